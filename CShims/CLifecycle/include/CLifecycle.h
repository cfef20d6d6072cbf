int CLifecycle_placeholder(void);
