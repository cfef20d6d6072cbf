#include "include/CLifecycle.h"
int CLifecycle_placeholder(void){return 0;}
