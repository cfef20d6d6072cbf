#include "include/CProcess.h"
int CProcess_placeholder(void){return 0;}
