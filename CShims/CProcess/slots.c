#include "internal.h"
#include "spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Fills in where each descriptor of the child comes from. Ours are put into the worker's slots, so
 * that the child's first call has little to copy, whatever their numbers. */
int cproc_fill_slots(const cproc_worker *worker, const cproc_order *order, cproc_child *child)
{
    int used = 0;
    int highest = worker->slot_low + worker->slot_count - 1;
    bool moves = worker->spawner->features.shared_table &&
                 order->descriptor_count < (size_t)worker->slot_count;
    bool given[3] = { false, false, false };
    for (size_t i = 0; i < order->descriptor_count; i++) {
        int source = order->sources[i];
        if (order->targets[i] < 3) given[order->targets[i]] = true;
        if (moves) {
            int slot = worker->slot_low + 1 + used++;
            if (dup3(source, slot, O_CLOEXEC) < 0) return errno;
            source = slot;
        } else if (source > highest) {
            highest = source;
        }
        child->sources[i] = source;
        child->targets[i] = order->targets[i];
    }
    size_t count = order->descriptor_count;
    for (int target = 0; target < 3; target++) {
        if (given[target]) continue;
        child->sources[count] = worker->slot_low; /* /dev/null */
        child->targets[count++] = target;
    }
    child->descriptor_count = count;
    child->keep_low = moves ? (unsigned)worker->slot_low : 3;
    child->keep_high = (unsigned)highest;
    child->shares_table = worker->spawner->features.shared_table;
    return 0;
}

void cproc_empty_slots(const cproc_worker *worker)
{
    for (int slot = 1; slot < worker->slot_count; slot++)
        dup3(worker->slot_low, worker->slot_low + slot, O_CLOEXEC);
}
