/* What the files of CProcess share. */
#ifndef CPROCESS_INTERNAL_H
#define CPROCESS_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "include/CProcess.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Missing from older headers; the numbers are the kernel's and the same everywhere. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#define CPROC_UNSHARE_TABLE 2u /* CLOSE_RANGE_UNSHARE */
#define CPROC_CLOSE_ON_EXEC 4u /* CLOSE_RANGE_CLOEXEC */

typedef struct {
    int resource;
    struct rlimit limit;
} cproc_limit;

/* Pages of an order, and what of them is taken. An order is made on one thread and let go on
 * another, a thousand at a time: on the heap it would leave holes among what stays. */
typedef struct cproc_pages {
    struct cproc_pages *_Nullable next;
    size_t size, used;
} cproc_pages;

/* Text vectors grow in an order only before it is submitted; the child only reads them. */
typedef struct {
    char *_Nullable *_Nullable items; /* ends with NULL once it has an item */
    size_t count;
    size_t capacity;
} cproc_texts;

struct cproc_order {
    cproc_order *_Nullable next;
    cproc_pages *_Nonnull pages; /* where everything is, this struct included */
    uint64_t ticket;
    int spoiled; /* the first error of a setter */

    cproc_texts arguments;
    cproc_texts variables;
    char *_Nullable pid_values[CPROC_ORDER_PID_VARIABLES]; /* where the digits go */
    size_t pid_value_count;
    char *_Nullable directory;

    bool has_identity, has_umask, has_nice, has_token, needs_cgroup;
    uint32_t user, group;
    gid_t *_Nullable groups;
    size_t group_count;
    mode_t mask;
    int nice;
    int death_signal;
    uint64_t token;
    int cgroup; /* -1: none */
    int seat; /* a descriptor that is held for the pidfd; -1: none */
    cproc_limit limits[CPROC_ORDER_LIMITS];
    size_t limit_count;
    int sources[CPROC_ORDER_DESCRIPTORS];
    int targets[CPROC_ORDER_DESCRIPTORS];
    size_t descriptor_count;

    /* Made by the spawner thread before the child exists. */
    cproc_texts candidates; /* paths to try, in order */
    cproc_result result;
};

/* What the child reports through the shared memory. */
typedef struct {
    volatile int step;
    volatile int error; /* 0 until it failed */
    volatile size_t candidate; /* the path that `error` is about */
    volatile bool has_token;
} cproc_report;

/* Everything the child reads; it lives on the spawner thread's stack, which stands still. */
typedef struct {
    const cproc_order *_Nonnull order;
    cproc_report report;
    /* Sources by place, in the numbers they have in the child. */
    int sources[CPROC_ORDER_DESCRIPTORS + 3];
    int targets[CPROC_ORDER_DESCRIPTORS + 3];
    size_t descriptor_count;
    /* The child keeps descriptors `keep_low`...`keep_high` and closes every other. */
    unsigned keep_low, keep_high;
    bool shares_table;
    struct rlimit original_descriptors;
    const atomic_bool *_Nullable cancelled; /* whether it is not to execute after all */
    /* For the probe: what its orphan reads, and every copy of the pipe's other end. */
    int probe_read, probe_write[2];
    volatile pid_t probe_orphan;
} cproc_child;

typedef int (*cproc_entry)(void *_Nonnull);

/* A stack for children, used by one at a time. */
typedef struct {
    char *_Nonnull base;
    size_t size;
} cproc_stack;

int cproc_stack_make(cproc_stack *_Nonnull stack);

/* Makes a child that shares our memory and waits until it has executed or ended. Returns its pid
 * and sets `pidfd`, which others may look at meanwhile, or minus the error number. */
pid_t cproc_clone(
    const cproc_features *_Nonnull features, const cproc_stack *_Nonnull stack, int cgroup,
    cproc_entry _Nonnull entry, void *_Nonnull argument, atomic_int *_Nonnull pidfd);

/* What a launched child does; it never returns to anything but an exit. */
int cproc_child_main(void *_Nonnull argument);

/* Makes room for the pidfd. */
void cproc_order_leave_seat(cproc_order *_Nonnull order);

/* The paths that could be the command. 0 or an error number. */
int cproc_order_find_candidates(cproc_order *_Nonnull order);
cproc_detail cproc_explain(const cproc_order *_Nonnull order, size_t candidate, int error);

#endif
