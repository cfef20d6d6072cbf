#include "CAllocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// What the C library calls its own, for those who put theirs in front.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Atomic uint64_t allocations;

static void note(void) { atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed); }

uint64_t callocations_count(void) {
    return atomic_load_explicit(&allocations, memory_order_relaxed);
}

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note();
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    note();
    return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *found = memalign(alignment, size);
    if (!found) return ENOMEM;
    *memory = found;
    return 0;
}
