#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t remembered = PTHREAD_ONCE_INIT;
static struct rlimit original = { RLIM_INFINITY, RLIM_INFINITY };

static void remember(void) { getrlimit(RLIMIT_NOFILE, &original); }

int cproc_sanitize_stdio(void)
{
    for (int number = 0; number < 3; number++) {
        if (fcntl(number, F_GETFD) >= 0) continue;
        /* The lowest free number is this one, since all below are open. Not close-on-exec, as
         * standard descriptors are not. */
        int opened = open("/dev/null", number == 0 ? O_RDONLY : O_WRONLY);
        if (opened < 0) return errno;
        if (opened != number) { /* another thread was faster: leave its file alone */
            close(opened);
            return EBUSY;
        }
    }
    return 0;
}

int cproc_raise_descriptor_limit(void)
{
    pthread_once(&remembered, remember);
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0) return errno;
    if (now.rlim_cur == now.rlim_max) return 0;
    now.rlim_cur = now.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &now) == 0 ? 0 : errno;
}

/* Lets go of the code of this object, which comes back from its file, page by page, where it is run
 * again. What was written to (relocations) is in other segments, which are left alone. */
static int drop_code(struct dl_phdr_info *object, size_t size, void *argument)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags != (PF_R | PF_X)) continue;
        uintptr_t begin = (object->dlpi_addr + segment->p_vaddr + page - 1) / page * page;
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) / page * page;
        if (begin < end) madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 1; /* the first object is the program itself; the libraries are shared with others */
}

void cproc_trim_memory(void)
{
    malloc_trim(0);
    dl_iterate_phdr(drop_code, NULL);
}

void cproc_original_descriptor_limit(uint64_t *soft, uint64_t *hard)
{
    pthread_once(&remembered, remember);
    *soft = original.rlim_cur == RLIM_INFINITY ? UINT64_MAX : original.rlim_cur;
    *hard = original.rlim_max == RLIM_INFINITY ? UINT64_MAX : original.rlim_max;
}

void cproc_clear_signal_mask(void)
{
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

int64_t cproc_clock(int32_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return -1;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int cproc_close_from(int first)
{
    return close_range((unsigned)first, ~0U, 0) == 0 ? 0 : errno;
}

int cproc_pipe(int *ours, int *theirs)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return error;
    }
    *ours = ends[0];
    *theirs = ends[1];
    return 0;
}
