#include "internal.h"
#include "spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for a child that has ended or is about to. */
static void await(pid_t pid)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0 && errno == EINTR) {}
}

/* So that a service that is another user can open /dev/stdout anew. */
static void give_pipes(const cproc_order *order)
{
    for (size_t i = 0; i < order->descriptor_count; i++) {
        struct stat file;
        if (order->targets[i] != 1 && order->targets[i] != 2) continue;
        if (fstat(order->sources[i], &file) != 0 || !S_ISFIFO(file.st_mode)) continue;
        /* A failure means that becoming the user fails too, which is the better message. */
        if (fchown(order->sources[i], order->user, order->group) != 0) return;
    }
}

/* A cgroup is the best of several ways to know a process, so its refusal is no failure. EAGAIN is
 * not one: it is the limit of processes. */
static pid_t make_child(cproc_worker *worker, cproc_child *child, bool *in_cgroup)
{
    const cproc_features *features = &worker->spawner->features;
    const cproc_order *order = child->order;
    atomic_int *pidfd = &worker->flight;
    *in_cgroup = order->cgroup >= 0 && features->into_cgroup;
    if (*in_cgroup) {
        pid_t pid = cproc_clone(
            features, &worker->stack, order->cgroup, cproc_child_main, child, pidfd);
        if (pid >= 0 || order->needs_cgroup) return pid;
        if (pid == -EAGAIN || pid == -ENOMEM || pid == -EMFILE || pid == -ENFILE) return pid;
        *in_cgroup = false;
    }
    if (order->needs_cgroup) return -EOPNOTSUPP;
    return cproc_clone(features, &worker->stack, -1, cproc_child_main, child, pidfd);
}

/* A launch that failed: its pidfd is taken from the eyes of others before it is closed. */
static void bury(cproc_worker *worker, pid_t pid)
{
    await(pid);
    pthread_mutex_lock(&worker->spawner->lock);
    int pidfd = worker->flight;
    worker->flight = -1;
    pthread_mutex_unlock(&worker->spawner->lock);
    if (pidfd >= 0) close(pidfd);
}

static void launch(cproc_worker *worker, cproc_order *order)
{
    cproc_result *result = &order->result;
    *result = (cproc_result){ .ticket = order->ticket, .step = CPROC_STEP_EXEC, .pidfd = -1 };
    result->error = cproc_order_find_candidates(order);
    if (result->error != 0) return;
    if (order->has_identity) give_pipes(order);
    cproc_child child = { .order = order, .cancelled = &worker->cancelled };
    uint64_t soft, hard;
    cproc_original_descriptor_limit(&soft, &hard);
    child.original_descriptors = (struct rlimit){ (rlim_t)soft, (rlim_t)hard };
    result->step = CPROC_STEP_DESCRIPTORS;
    result->error = cproc_fill_slots(worker, order, &child);
    pid_t pid = -1;
    if (result->error == 0) {
        result->step = order->needs_cgroup ? CPROC_STEP_CGROUP : CPROC_STEP_CLONE;
        cproc_order_leave_seat(order);
        pid = make_child(worker, &child, &result->in_cgroup);
        if (pid < 0) result->error = -pid;
    }
    cproc_empty_slots(worker);
    if (result->error != 0) return;
    result->has_token = child.report.has_token;
    if (atomic_load(&worker->cancelled)) {
        /* It was killed, before its exec or right after: it did not run, for all that matters. */
        cproc_signal_group(pid, SIGKILL);
        cproc_signal_child(pid, SIGKILL);
        bury(worker, pid);
        result->step = CPROC_STEP_EXEC;
        result->error = ECANCELED;
        return;
    }
    if (child.report.error != 0) {
        bury(worker, pid);
        result->step = (cproc_step)child.report.step;
        result->error = child.report.error;
        if (result->step == CPROC_STEP_EXEC)
            result->detail = cproc_explain(order, child.report.candidate, result->error);
        return;
    }
    cproc_stat stat;
    result->step = CPROC_STEP_NONE;
    result->pid = pid;
    result->pidfd = worker->flight;
    result->start_time = cproc_read_stat(pid, &stat) == 0 ? stat.start_time : 0;
}

static bool has_child(const cproc_order *order)
{
    return order->result.step == CPROC_STEP_NONE && order->result.pid > 0;
}

/* Ends what was launched for nobody. */
static void give_up(cproc_order *order)
{
    if (has_child(order)) {
        cproc_signal_group(order->result.pid, SIGKILL);
        cproc_signal_child(order->result.pid, SIGKILL);
        await(order->result.pid);
        close(order->result.pidfd);
    }
    cproc_order_destroy(order);
}

static cproc_order *pop(cproc_orders *orders)
{
    cproc_order *first = orders->first;
    if (first == NULL) return NULL;
    orders->first = first->next;
    if (orders->first == NULL) orders->last = NULL;
    orders->count--;
    first->next = NULL;
    return first;
}

static void push(cproc_orders *orders, cproc_order *order)
{
    order->next = NULL;
    if (orders->last == NULL) orders->first = order;
    else orders->last->next = order;
    orders->last = order;
    orders->count++;
}

/* With the lock held: the result can be taken. */
static void finish(cproc_spawner *spawner, cproc_order *order)
{
    bool first = spawner->done.first == NULL;
    push(&spawner->done, order);
    if (first && !spawner->retired) eventfd_write(spawner->event, 1);
}

/* With the lock held: ends a launch under way. The child either exists, and is killed, or looks at
 * the flag after it was set. */
static void cancel_flight(cproc_worker *worker)
{
    if (worker->ticket == 0) return;
    atomic_store(&worker->cancelled, true);
    int pidfd = worker->flight;
    if (pidfd >= 0) cproc_pidfd_signal(pidfd, SIGKILL);
}

/* Called with the lock held; returns with it held when there is nothing more to do for ever. */
static void serve(cproc_worker *worker)
{
    cproc_spawner *spawner = worker->spawner;
    for (;;) {
        while (spawner->waiting.first == NULL && !spawner->retired)
            pthread_cond_wait(&spawner->changed, &spawner->lock);
        cproc_order *order = pop(spawner->retired ? &spawner->done : &spawner->waiting);
        if (order == NULL) return;
        bool retired = spawner->retired;
        if (!retired) {
            worker->ticket = order->ticket;
            atomic_store(&worker->cancelled, false);
        }
        pthread_mutex_unlock(&spawner->lock);
        if (retired) give_up(order);
        else launch(worker, order);
        pthread_mutex_lock(&spawner->lock);
        if (retired) continue;
        worker->ticket = 0;
        worker->flight = -1; /* the order has it now */
        finish(spawner, order);
    }
}

static void *work(void *argument)
{
    cproc_worker *worker = argument;
    cproc_spawner *spawner = worker->spawner;
    bool probes = worker == spawner->workers;
    int error = cproc_stack_make(&worker->stack);
    if (error == 0 && probes) error = cproc_probe(worker);
    pthread_mutex_lock(&spawner->lock);
    if (error != 0) spawner->start_error = error;
    spawner->started++;
    pthread_cond_broadcast(&spawner->changed);
    serve(worker);
    pthread_mutex_unlock(&spawner->lock);
    for (int slot = 0; slot < worker->slot_count; slot++) close(worker->slot_low + slot);
    for (;;) pause(); /* every signal is blocked, so this is for ever */
}

static int start_thread(cproc_spawner *spawner, size_t index, int slots)
{
    cproc_worker *worker = &spawner->workers[index];
    worker->spawner = spawner;
    worker->flight = -1;
    worker->slot_count = slots;
    worker->slot_low = cproc_reserve(slots);
    if (worker->slot_low < 0) return -worker->slot_low;
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error != 0) return error;
    pthread_mutex_lock(&spawner->lock);
    while (spawner->started <= index) pthread_cond_wait(&spawner->changed, &spawner->lock);
    pthread_mutex_unlock(&spawner->lock);
    return spawner->start_error;
}

/* An ignored SIGCHLD makes the kernel reap our children behind our back, a blocked one says
 * nothing; either may have been inherited. */
static void notice_children(void)
{
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    pthread_sigmask(SIG_UNBLOCK, &ended, NULL);
    struct sigaction action;
    if (sigaction(SIGCHLD, NULL, &action) != 0) return;
    if (action.sa_handler != SIG_IGN && (action.sa_flags & SA_NOCLDWAIT) == 0) return;
    if (action.sa_handler == SIG_IGN) action.sa_handler = SIG_DFL;
    action.sa_flags &= ~SA_NOCLDWAIT;
    sigaction(SIGCHLD, &action, NULL);
}

int cproc_spawner_start(size_t threads, uint32_t without, cproc_spawner **result)
{
    if (threads == 0 || threads > CPROC_THREADS) return EINVAL;
    cproc_spawner *spawner = calloc(1, sizeof *spawner);
    if (spawner == NULL) return ENOMEM;
    spawner->without = without;
    spawner->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (spawner->event < 0) {
        int error = errno;
        free(spawner);
        return error;
    }
    /* It is held for moments only: to look again costs less than to sleep and be woken. */
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&spawner->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_cond_init(&spawner->changed, NULL);
    notice_children();
    spawner->features.subreaper = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
    struct rlimit descriptors;
    /* Where descriptors are scarce, slots are too: overflowing them only costs time. */
    bool scarce = getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur < 256;
    int error = 0;
    for (size_t i = 0; error == 0 && i < (scarce ? 1 : threads); i++)
        error = start_thread(spawner, i, scarce ? 4 : 12);
    if (error == 0) cproc_check_orphan(spawner);
    if (error != 0) {
        if (spawner->orphan > 0) close(spawner->orphan_pipe[1]);
        cproc_spawner_retire(spawner);
        return error;
    }
    *result = spawner;
    return 0;
}

void cproc_spawner_retire(cproc_spawner *spawner)
{
    pthread_mutex_lock(&spawner->lock);
    cproc_orders waiting = spawner->waiting;
    spawner->waiting = (cproc_orders){ NULL, NULL, 0 };
    if (!spawner->retired) close(spawner->event);
    spawner->event = -1;
    spawner->retired = true;
    /* Killed here and reaped by the threads: this process may end before they get to run. */
    for (size_t i = 0; i < CPROC_THREADS; i++) cancel_flight(&spawner->workers[i]);
    for (cproc_order *each = spawner->done.first; each != NULL; each = each->next) {
        if (!has_child(each)) continue;
        cproc_signal_group(each->result.pid, SIGKILL);
        cproc_signal_child(each->result.pid, SIGKILL);
    }
    pthread_cond_broadcast(&spawner->changed);
    pthread_mutex_unlock(&spawner->lock);
    for (cproc_order *order; (order = pop(&waiting)) != NULL;) cproc_order_destroy(order);
    /* The threads never end, so the memory they look at stays. */
}

int cproc_spawner_descriptor(const cproc_spawner *spawner) { return spawner->event; }

cproc_features cproc_spawner_features(const cproc_spawner *spawner) { return spawner->features; }

int cproc_spawner_submit(cproc_spawner *spawner, cproc_order *order)
{
    int error = 0;
    /* Orders that took all descriptors for their pipes would leave none for any pidfd. Who opens
     * something in the very moment may still be quicker. */
    order->seat = fcntl(spawner->event, F_DUPFD_CLOEXEC, 3);
    if (order->seat < 0) error = errno;
    pthread_mutex_lock(&spawner->lock);
    if (spawner->retired) error = ESHUTDOWN;
    if (error == 0 && spawner->waiting.count >= CPROC_QUEUE_LIMIT) error = EAGAIN;
    if (error == 0) push(&spawner->waiting, order);
    pthread_mutex_unlock(&spawner->lock);
    /* Not while the lock is held: who wakes would only wait again, for us. */
    if (error == 0) pthread_cond_signal(&spawner->changed);
    if (error != 0) cproc_order_destroy(order);
    return error;
}

/* Takes the order with this ticket out of a queue. */
static cproc_order *extract(cproc_orders *orders, uint64_t ticket)
{
    cproc_order *before = NULL, *each = orders->first;
    while (each != NULL && each->ticket != ticket) {
        before = each;
        each = each->next;
    }
    if (each == NULL) return NULL;
    if (before == NULL) return pop(orders);
    before->next = each->next;
    if (orders->last == each) orders->last = before;
    orders->count--;
    each->next = NULL;
    return each;
}

void cproc_spawner_cancel(cproc_spawner *spawner, uint64_t ticket)
{
    pthread_mutex_lock(&spawner->lock);
    cproc_order *order = extract(&spawner->waiting, ticket);
    if (order != NULL) {
        order->result = (cproc_result){
            .ticket = ticket, .step = CPROC_STEP_EXEC, .error = ECANCELED, .pidfd = -1 };
        finish(spawner, order);
    }
    for (size_t i = 0; i < CPROC_THREADS; i++)
        if (spawner->workers[i].ticket == ticket) cancel_flight(&spawner->workers[i]);
    pthread_mutex_unlock(&spawner->lock);
}

bool cproc_spawner_take(cproc_spawner *spawner, cproc_result *result)
{
    eventfd_t ignored;
    pthread_mutex_lock(&spawner->lock);
    cproc_order *order = spawner->retired ? NULL : pop(&spawner->done);
    /* Reset only when nothing is left, so the descriptor stays readable until then. */
    if (order == NULL && spawner->event >= 0) eventfd_read(spawner->event, &ignored);
    pthread_mutex_unlock(&spawner->lock);
    if (order == NULL) return false;
    *result = order->result;
    cproc_order_destroy(order);
    return true;
}
