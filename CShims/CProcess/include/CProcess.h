/* What Swift cannot call: launching with a descriptor for the child, waiting without reaping,
 * reading /proc, and messages with credentials and descriptors.
 *
 * Unless a comment says otherwise a function returns 0, or the error number. `errno` is not part
 * of the contract. Nothing here decides anything. */
#ifndef CPROCESS_H
#define CPROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/* ---- The process at its start (start.c) ---- */

/* Opens /dev/null for each of 0, 1 and 2 that is closed. Call it before anything opens a file. */
int cproc_sanitize_stdio(void);

/* Closes every descriptor from `first` on: what a caller left open must not be kept open by us.
 * Call it before anything of ours is open. */
int cproc_close_from(int first);

/* What a descriptor in a ready set is waited for with, and told of. */
enum {
    CPROC_READABLE = 0x1,
    CPROC_PRIORITY = 0x2,
    CPROC_WRITABLE = 0x4,
    CPROC_ERROR = 0x8, /* never asked for, always told */
    CPROC_HANGUP = 0x10, /* never asked for, always told */
    CPROC_DISCONNECT = 0x2000,
    CPROC_READY_LIMIT = 256, /* descriptors told of at once */
};

typedef struct {
    uint64_t tag; /* as given with the descriptor */
    uint32_t events;
} cproc_ready;

/* A set of descriptors that is readable when one of them is ready (epoll(7)): its descriptor, or
 * minus an error number. */
int cproc_ready_set(void);
/* Waits for events of a descriptor that is not in the set. Needs room in the kernel. Returns 0 or
 * an error number. */
int cproc_ready_begin(int set, int descriptor, uint32_t events, uint64_t tag);
/* Waits for other events of it; for none it stays in the set, and may tell once of an error that it
 * has. Returns 0 or an error number. */
int cproc_ready_change(int set, int descriptor, uint32_t events, uint64_t tag);
/* Waits no longer. What was closed is in no set any more. */
void cproc_ready_end(int set, int descriptor);
/* What is ready now, at most CPROC_READY_LIMIT; what is left comes first in the next call. Returns
 * how many. */
int cproc_ready_take(int set, cproc_ready *_Nonnull ready);

/* A pipe whose ends no child inherits and of which we read `ours` without waiting. Returns 0 or an
 * error number, and then there is none. */
int cproc_pipe(int *_Nonnull ours, int *_Nonnull theirs);

/* Raises the soft limit of descriptors to the hard one and remembers what it was: children get
 * the original back. Safe to call again. */
int cproc_raise_descriptor_limit(void);

/* The limits of descriptors this process was started with. */
void cproc_original_descriptor_limit(uint64_t *soft, uint64_t *hard);

/* Lets every signal in on the calling thread: a mask is inherited, and one with SIGTERM or SIGCHLD
 * in it would make this process deaf. Call it at the start, on the main thread. */
void cproc_clear_signal_mask(void);

/* Blocking work for a thread of the pool. It belongs to the pool from `cproc_pool_submit` on until
 * `run` is called, which may free it. */
typedef struct cproc_work {
    struct cproc_work *_Nullable next; /* the pool's */
    void (*_Nonnull run)(void *_Nonnull context);
    void *_Nonnull context;
} cproc_work;

/* Makes the threads that are missing to `threads`; they never end, and hear no signals. Safe to
 * call again. Answers an error number if one cannot be made; those that were made stay. */
int cproc_pool_start(size_t threads);

/* Has a thread of the pool run `work` after all that was submitted before has begun. `EAGAIN`:
 * there is no thread. */
int cproc_pool_submit(cproc_work *_Nonnull work);

/* Gives the heap's free pages and the program's code back to the kernel. For after a burst: malloc
 * itself keeps what lies between two things that stay, and most code ran for the last time. What is
 * run again comes back from the page cache. A debugger's breakpoints go as well. */
void cproc_trim_memory(void);

/* A kernel clock (CLOCK_MONOTONIC …), in nanoseconds since its origin; -1 for an unknown one. */
int64_t cproc_clock(int32_t clock);

/* ---- Orders: one launch, described before it is made (order.c) ---- */

enum {
    /* The most descriptors one order can carry, the standard three included. */
    CPROC_ORDER_DESCRIPTORS = 128,
    /* The most resource limits, supplementary groups and variables holding the child's pid. */
    CPROC_ORDER_LIMITS = 32,
    CPROC_ORDER_GROUPS = 65536,
    CPROC_ORDER_PID_VARIABLES = 4,
    /* Orders waiting for a spawner thread at any one time. */
    CPROC_QUEUE_LIMIT = 65536,
};

/* A launch to be made. The setters copy what they get; a failed copy, or a cap passed, is
 * remembered and comes back as the result of the launch. */
typedef struct cproc_order cproc_order;

/* `ticket` comes back with the result. NULL: out of memory. */
cproc_order *_Nullable cproc_order_create(uint64_t ticket);
/* Only for an order that was never submitted. */
void cproc_order_destroy(cproc_order *order);
/* Remembers an error as a setter would. */
void cproc_order_spoil(cproc_order *order, int error);
/* The argument vector, in order. The first is looked up in the PATH among the order's own
 * variables unless it has a slash; without a PATH, in the usual bin and sbin directories. */
void cproc_order_add_argument(cproc_order *order, const char *text);
/* One `NAME=value` of the environment. Nothing is inherited. */
void cproc_order_add_variable(cproc_order *order, const char *text);
/* A variable whose value is the pid of the child (LISTEN_PID, WATCHDOG_PID). */
void cproc_order_add_pid_variable(cproc_order *order, const char *name);
void cproc_order_set_directory(cproc_order *order, const char *path);
/* User, group and supplementary groups. Pipes among the descriptors 1 and 2 are given to them. */
void cproc_order_set_identity(
    cproc_order *order, uint32_t user, uint32_t group, const uint32_t *_Nullable groups,
    size_t count);
void cproc_order_set_umask(cproc_order *order, uint32_t mask);
void cproc_order_set_nice(cproc_order *order, int32_t nice);
/* Both are `UINT64_MAX` for unlimited. RLIMIT_LOCKS is refused: it holds the token. */
void cproc_order_add_limit(cproc_order *order, int32_t resource, uint64_t soft, uint64_t hard);
/* The soft RLIMIT_LOCKS, which the kernel ignores and every descendant inherits. */
void cproc_order_set_token(cproc_order *order, uint64_t token);
/* A directory descriptor of a cgroup2 leaf that the child is born in. The caller keeps it open.
 * Where the kernel refuses that, the child is born where we are, and the result says so; or the
 * launch fails, if the caller insists. */
void cproc_order_set_cgroup(cproc_order *order, int directory, bool insists);
/* `source`, which the caller keeps open until the result, becomes `target` in the child. Without
 * one, 0 is /dev/null; 1 and 2 are too. */
void cproc_order_add_descriptor(cproc_order *order, int source, int target);
/* The signal the child gets when this process dies; 0, the default, for none. */
void cproc_order_set_death_signal(cproc_order *order, int32_t number);

/* ---- The spawner threads (spawner.c) ---- */

/* What the kernel grants. A false field names a fallback in use. */
typedef struct {
    /* clone3 with a stack of its own; else clone. */
    bool clone3;
    /* The child shares our descriptor table until it un-shares it; else the table is copied and
     * a launch costs more with every descriptor we hold. */
    bool shared_table;
    /* A child can be born in a cgroup. */
    bool into_cgroup;
    /* /proc/PID/task/TID/children exists; else parents are found by reading all of /proc. */
    bool child_lists;
    /* Escapees are children of the main thread and nobody else's are (checked with one orphan);
     * else each is waited for by number. */
    bool main_reaps;
    /* This process adopts orphans of its descendants. */
    bool subreaper;
} cproc_features;

/* Switches for tests: features that are treated as missing. */
typedef enum {
    CPROC_WITHOUT_CLONE3 = 1,
    CPROC_WITHOUT_SHARED_TABLE = 2,
    CPROC_WITHOUT_CHILD_LISTS = 4,
    CPROC_WITHOUT_MAIN_REAPS = 8,
} cproc_without;

/* Immortal threads that make launches, so that an exec that hangs does not hang the caller. */
typedef struct cproc_spawner cproc_spawner;

/* Becomes the adopter of orphans, makes SIGCHLD unignored, starts `threads` (1 to 8) threads and
 * tries out what the kernel grants. Call it on the main thread: elsewhere `main_reaps` is false.
 * ENOSYS: the kernel has no pidfd (it is older than 5.3). */
int cproc_spawner_start(
    size_t threads, uint32_t without, cproc_spawner *_Nullable *_Nonnull spawner);
/* No more orders. The threads stay, idle: children's parent-death signals hang on them. What is
 * under way and results not taken are given up: their processes are killed before this returns. */
void cproc_spawner_retire(cproc_spawner *spawner);
/* Readable when a result waits. */
int cproc_spawner_descriptor(const cproc_spawner *spawner);
cproc_features cproc_spawner_features(const cproc_spawner *spawner);
/* Takes the order over, whatever it returns. EAGAIN: too many wait; ESHUTDOWN: retired. */
int cproc_spawner_submit(cproc_spawner *spawner, cproc_order *order);

/* Ends a launch nobody wants any more, one whose exec hangs included; its result is ECANCELED. Too
 * late for one that has a result already, and for one that is just succeeding: its process is
 * killed in either case only by whoever takes the result. */
void cproc_spawner_cancel(cproc_spawner *spawner, uint64_t ticket);

/* The steps of a launch, as they can fail. */
typedef enum {
    CPROC_STEP_NONE = 0,
    CPROC_STEP_CLONE,
    /* The same, into a cgroup that was insisted on. */
    CPROC_STEP_CGROUP,
    CPROC_STEP_DESCRIPTORS,
    CPROC_STEP_SESSION,
    CPROC_STEP_SIGNALS,
    CPROC_STEP_LIMITS,
    CPROC_STEP_NICE,
    CPROC_STEP_GROUPS,
    CPROC_STEP_GROUP,
    CPROC_STEP_USER,
    CPROC_STEP_DIRECTORY,
    CPROC_STEP_EXEC,
} cproc_step;

/* What a look at the file after a failed exec says. */
typedef enum {
    CPROC_DETAIL_NONE = 0,
    /* The command is a directory. */
    CPROC_DETAIL_IS_DIRECTORY,
    /* The file is there, and what should interpret it is not. */
    CPROC_DETAIL_NO_INTERPRETER,
    /* The file lacks the permission to be executed. */
    CPROC_DETAIL_NOT_EXECUTABLE,
} cproc_detail;

/* How a launch went. */
typedef struct {
    uint64_t ticket;
    /* Where it failed; CPROC_STEP_NONE: it runs. */
    cproc_step step;
    cproc_detail detail;
    int error;
    /* The child, if it runs: its pid, a pidfd that is now the caller's, and its start time in
     * clock ticks since boot. */
    int32_t pid;
    int pidfd;
    uint64_t start_time;
    /* Whether the token was set. */
    bool has_token;
    /* Whether it was born in the cgroup of its order. */
    bool in_cgroup;
} cproc_result;

/* The next result, if there is one. */
bool cproc_spawner_take(cproc_spawner *spawner, cproc_result *result);

/* ---- Waiting and signalling (wait.c) ---- */

/* How a process ended. */
typedef struct {
    int32_t pid;
    /* The exit code, or the signal. */
    int32_t value;
    bool by_signal;
    bool dumped_core;
} cproc_exit;

/* How our child ended, without reaping it. EAGAIN: it lives. ECHILD: not ours. */
int cproc_peek(int32_t pid, cproc_exit *status);
/* As `cproc_peek`, and its number is free from here on. */
int cproc_reap(int32_t pid, cproc_exit *status);
/* Reaps one child of the *calling thread*, whichever it is. EAGAIN: none is dead; ECHILD: there
 * is none. On the main thread these are exactly the escapees. */
int cproc_reap_stranger(cproc_exit *status);
/* A descriptor (close-on-exec) of a process, or minus the error number. */
int cproc_pidfd_open(int32_t pid);
int cproc_pidfd_signal(int pidfd, int32_t number);
/* A signal to the whole group that `leader`, an unreaped child of ours, leads. */
int cproc_signal_group(int32_t leader, int32_t number);
/* A signal to an unreaped child of ours. */
int cproc_signal_child(int32_t child, int32_t number);
/* The process group, or minus the error number. */
int32_t cproc_group_of(int32_t pid);

/* ---- /proc (procfs.c) ---- */

/* What /proc/PID/stat says. */
typedef struct {
    int32_t pid;
    int32_t parent;
    int32_t group;
    int32_t session;
    char state;
    /* In clock ticks since boot; with the pid it names a process for good (until a reboot). */
    uint64_t start_time;
} cproc_stat;

/* ESRCH: no such process. */
int cproc_read_stat(int32_t pid, cproc_stat *stat);
/* The command line with spaces between the arguments, cut to `capacity`, or the name in brackets
 * where there is none. Always terminated. */
int cproc_read_command(int32_t pid, char *buffer, size_t capacity);
/* The token in the soft RLIMIT_LOCKS. ENODATA: unlimited, so it has none. */
int cproc_read_token(int32_t pid, uint64_t *token);
/* The value of a variable in the environment the process was started with. ENODATA: not there. */
int cproc_read_variable(int32_t pid, const char *name, char *buffer, size_t capacity);
/* The children of all threads of a process (zombies too). Returns how many there are, which may be
 * more than fit, or minus the error number. A child that comes or goes meanwhile may be missed. */
intptr_t cproc_children(int32_t pid, int32_t *children, size_t capacity);
/* The children of one thread of ours. */
intptr_t cproc_thread_children(int32_t thread, int32_t *children, size_t capacity);
/* Every process there is, in the same way. */
intptr_t cproc_all_processes(int32_t *processes, size_t capacity);
/* The main thread's id, which is our pid. */
int32_t cproc_self(void);
bool cproc_is_main_thread(void);
/* Writes the whole text in one write(2), without following it up. For cgroup files. */
int cproc_write_file(int directory, const char *name, const char *text);
/* Reads up to `capacity` - 1 bytes from the start of an open file and terminates them. Returns the
 * length, or minus the error number. */
intptr_t cproc_read_at_start(int descriptor, char *buffer, size_t capacity);

/* ---- Messages over Unix sockets (socket.c) ---- */

/* Who is at the other end, by the kernel's word. */
typedef struct {
    int32_t pid;
    uint32_t user;
    uint32_t group;
} cproc_credentials;

/* Who connected to this socket (SO_PEERCRED), as of the connect. */
int cproc_peer_credentials(int socket, cproc_credentials *credentials);
/* From now on each message of the socket carries its sender's credentials. */
int cproc_pass_credentials(int socket);

/* What came with a message besides its bytes. */
typedef struct {
    /* Bytes stored; the message was longer if `truncated`. 0 from a stream: it has ended. */
    size_t length;
    bool truncated;
    /* Descriptors were lost in transit or did not fit, and are closed. */
    bool lost_descriptors;
    bool has_credentials;
    cproc_credentials credentials;
    /* How many of `descriptors` are set; they are the caller's to close, and close-on-exec. */
    size_t descriptor_count;
} cproc_message;

enum {
    /* The most descriptors one message can carry (SCM_MAX_FD). */
    CPROC_MESSAGE_DESCRIPTORS = 253,
};

/* Receives one message without waiting. Descriptors beyond `descriptor_capacity` are closed.
 * EAGAIN: there is none. */
int cproc_receive(
    int socket, void *buffer, size_t capacity, int *_Nullable descriptors,
    size_t descriptor_capacity, cproc_message *message);
/* Sends one message without waiting and without SIGPIPE, with up to 253 descriptors. */
int cproc_send(
    int socket, const void *buffer, size_t length, const int *_Nullable descriptors,
    size_t descriptor_count);

#pragma clang assume_nonnull end

#endif
