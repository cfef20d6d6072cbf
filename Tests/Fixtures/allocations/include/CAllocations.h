// Counts what a program allocates. Who links this has `malloc` and its kin from here, in front of
// the C library's, for its own code and for every library it loads.
#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

// How often memory was asked for since the program began, on any thread.
uint64_t callocations_count(void);

#endif
