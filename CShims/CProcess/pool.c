/* Threads that run blocking work, made once and never ended. Whoever cannot have them is told so:
 * the pool of the loop's library ends the process then. */
#include "internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t news;
    cproc_work *_Nullable first, *_Nullable last;
    size_t threads;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER };

static void *serve(void *nothing)
{
    pthread_mutex_lock(&pool.lock);
    while (true) {
        while (pool.first == NULL) pthread_cond_wait(&pool.news, &pool.lock);
        cproc_work *work = pool.first;
        pool.first = work->next;
        pthread_mutex_unlock(&pool.lock);
        work->run(work->context);
        pthread_mutex_lock(&pool.lock);
    }
    return nothing;
}

int cproc_pool_start(size_t threads)
{
    sigset_t all, before;
    sigfillset(&all);
    /* Signals belong to the loop's thread. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&pool.lock);
    int error = 0;
    while (error == 0 && pool.threads < threads) {
        pthread_t thread;
        error = pthread_create(&thread, NULL, serve, NULL);
        if (error != 0) break;
        pthread_detach(thread);
        pool.threads++;
    }
    pthread_mutex_unlock(&pool.lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int cproc_pool_submit(cproc_work *work)
{
    work->next = NULL;
    pthread_mutex_lock(&pool.lock);
    int error = pool.threads == 0 ? EAGAIN : 0;
    if (error == 0) {
        if (pool.first == NULL) pool.first = work;
        else pool.last->next = work;
        pool.last = work;
        pthread_cond_signal(&pool.news);
    }
    pthread_mutex_unlock(&pool.lock);
    return error;
}
