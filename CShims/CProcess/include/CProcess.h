int CProcess_placeholder(void);
