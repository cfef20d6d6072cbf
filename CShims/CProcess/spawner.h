/* What the spawner threads and the probe of the kernel share. */
#ifndef CPROCESS_SPAWNER_H
#define CPROCESS_SPAWNER_H

#include "internal.h"

#include <pthread.h>

#define CPROC_THREADS 8

/* A queue of orders. */
typedef struct {
    cproc_order *_Nullable first;
    cproc_order *_Nullable last;
    size_t count;
} cproc_orders;

/* One thread with what it needs for a launch. */
typedef struct {
    cproc_spawner *_Nonnull spawner;
    cproc_stack stack;
    /* A run of low descriptor numbers that are always open, on /dev/null unless in use. */
    int slot_low;
    int slot_count;
    /* The launch under way, guarded by the lock: its ticket (0: none), and its pidfd from the
     * kernel's birth of the child on, -1 before and after. */
    uint64_t ticket;
    atomic_int flight;
    /* Nobody wants that launch any more. The child looks at it last of all before its exec. */
    atomic_bool cancelled;
} cproc_worker;

struct cproc_spawner {
    pthread_mutex_t lock; /* guards what follows up to `event` */
    pthread_cond_t changed;
    cproc_orders waiting;
    cproc_orders done;
    bool retired;
    size_t started;
    int start_error;
    int event;
    /* Written before the first order, read-only then. */
    cproc_features features;
    uint32_t without;
    pid_t orphan; /* of the probe */
    int orphan_pipe[2];
    cproc_worker workers[CPROC_THREADS];
};

/* Finds out what launches can use, by trying. Leaves one orphan, for `cproc_check_orphan`. */
int cproc_probe(cproc_worker *_Nonnull worker);
/* Finds out whose child an orphan becomes, and ends it. */
void cproc_check_orphan(cproc_spawner *_Nonnull spawner);
/* A run of `count` low descriptors; the first, or minus the error number. */
int cproc_reserve(int count);
/* Fills in where each descriptor of the child comes from; 0 or the error number. */
int cproc_fill_slots(
    const cproc_worker *_Nonnull worker, const cproc_order *_Nonnull order,
    cproc_child *_Nonnull child);
/* The slots are free for the next launch. */
void cproc_empty_slots(const cproc_worker *_Nonnull worker);

#endif
