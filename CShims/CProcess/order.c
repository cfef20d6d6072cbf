#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char default_path[] =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void cproc_order_spoil(cproc_order *order, int error)
{
    if (order->spoiled == 0) order->spoiled = error;
}

/* Enough for most orders. */
static const size_t least_pages = 16 * 1024;
static const size_t page_header = (sizeof(cproc_pages) + 15) & ~(size_t)15;

static cproc_pages *map_pages(size_t size, cproc_pages *next)
{
    size_t whole = size + page_header > least_pages ? size + page_header : least_pages;
    cproc_pages *pages =
        mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    *pages = (cproc_pages){ .next = next, .size = whole, .used = page_header };
    return pages;
}

/* `size` bytes of zeros, aligned for anything, that last as long as the order; NULL: no memory. */
static void *take(cproc_order *order, size_t size)
{
    size_t rounded = (size + 15) & ~(size_t)15;
    cproc_pages *pages = order->pages;
    if (pages->size - pages->used < rounded) {
        pages = map_pages(rounded, order->pages);
        if (pages == NULL) return NULL;
        order->pages = pages;
    }
    void *taken = (char *)pages + pages->used;
    pages->used += rounded;
    return taken;
}

static int append(cproc_order *order, cproc_texts *texts, char *text)
{
    if (texts->count + 1 >= texts->capacity) {
        size_t capacity = texts->capacity == 0 ? 16 : texts->capacity * 2;
        char **items = take(order, capacity * sizeof *items);
        if (items == NULL) return ENOMEM;
        if (texts->count > 0) memcpy(items, texts->items, texts->count * sizeof *items);
        texts->items = items;
        texts->capacity = capacity;
    }
    texts->items[texts->count++] = text;
    texts->items[texts->count] = NULL;
    return 0;
}

static char *copy_of(cproc_order *order, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = take(order, size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}

static void append_copy(cproc_order *order, cproc_texts *texts, const char *text)
{
    char *copy = copy_of(order, text);
    int error = copy == NULL ? ENOMEM : append(order, texts, copy);
    if (error != 0) cproc_order_spoil(order, error);
}

cproc_order *cproc_order_create(uint64_t ticket)
{
    cproc_pages *pages = map_pages(sizeof(cproc_order), NULL);
    if (pages == NULL) return NULL;
    cproc_order *order = (cproc_order *)((char *)pages + pages->used);
    pages->used += (sizeof *order + 15) & ~(size_t)15;
    order->pages = pages;
    order->ticket = ticket;
    order->cgroup = -1;
    order->seat = -1;
    return order;
}

void cproc_order_leave_seat(cproc_order *order)
{
    if (order->seat >= 0) close(order->seat);
    order->seat = -1;
}

void cproc_order_destroy(cproc_order *order)
{
    cproc_order_leave_seat(order);
    /* The order itself is in the pages that go last. */
    for (cproc_pages *pages = order->pages; pages != NULL;) {
        cproc_pages *next = pages->next;
        munmap(pages, pages->size);
        pages = next;
    }
}

void cproc_order_add_argument(cproc_order *order, const char *text)
{
    append_copy(order, &order->arguments, text);
}

void cproc_order_add_variable(cproc_order *order, const char *text)
{
    append_copy(order, &order->variables, text);
}

void cproc_order_add_pid_variable(cproc_order *order, const char *name)
{
    if (order->pid_value_count == CPROC_ORDER_PID_VARIABLES)
        return cproc_order_spoil(order, E2BIG);
    size_t length = strlen(name);
    char *text = take(order, length + 1 + 12); /* "=", ten digits at most, the end */
    if (text == NULL) return cproc_order_spoil(order, ENOMEM);
    memcpy(text, name, length);
    text[length] = '=';
    if (append(order, &order->variables, text) != 0) return cproc_order_spoil(order, ENOMEM);
    order->pid_values[order->pid_value_count++] = text + length + 1;
}

void cproc_order_set_directory(cproc_order *order, const char *path)
{
    order->directory = copy_of(order, path);
    if (order->directory == NULL) cproc_order_spoil(order, ENOMEM);
}

void cproc_order_set_identity(
    cproc_order *order, uint32_t user, uint32_t group, const uint32_t *groups, size_t count)
{
    if (count > CPROC_ORDER_GROUPS) return cproc_order_spoil(order, E2BIG);
    order->groups = take(order, (count + 1) * sizeof *order->groups);
    if (order->groups == NULL) return cproc_order_spoil(order, ENOMEM);
    for (size_t i = 0; i < count; i++) order->groups[i] = groups[i];
    order->group_count = count;
    order->has_identity = true;
    order->user = user;
    order->group = group;
}

void cproc_order_set_umask(cproc_order *order, uint32_t mask)
{
    order->has_umask = true;
    order->mask = (mode_t)(mask & 0777);
}

void cproc_order_set_nice(cproc_order *order, int32_t nice)
{
    order->has_nice = true;
    order->nice = nice;
}

void cproc_order_add_limit(cproc_order *order, int32_t resource, uint64_t soft, uint64_t hard)
{
    if (resource == RLIMIT_LOCKS) return cproc_order_spoil(order, EINVAL);
    if (order->limit_count == CPROC_ORDER_LIMITS) return cproc_order_spoil(order, E2BIG);
    cproc_limit *place = &order->limits[order->limit_count++];
    place->resource = resource;
    place->limit.rlim_cur = soft == UINT64_MAX ? RLIM_INFINITY : (rlim_t)soft;
    place->limit.rlim_max = hard == UINT64_MAX ? RLIM_INFINITY : (rlim_t)hard;
}

void cproc_order_set_token(cproc_order *order, uint64_t token)
{
    order->has_token = true;
    order->token = token;
}

void cproc_order_set_cgroup(cproc_order *order, int directory, bool insists)
{
    order->cgroup = directory;
    order->needs_cgroup = insists;
}

void cproc_order_set_death_signal(cproc_order *order, int32_t number)
{
    order->death_signal = number;
}

void cproc_order_add_descriptor(cproc_order *order, int source, int target)
{
    if (source < 0 || target < 0) return cproc_order_spoil(order, EBADF);
    if (target >= 1 << 16) return cproc_order_spoil(order, EINVAL);
    if (order->descriptor_count == CPROC_ORDER_DESCRIPTORS) return cproc_order_spoil(order, E2BIG);
    for (size_t i = 0; i < order->descriptor_count; i++)
        if (order->targets[i] == target) return cproc_order_spoil(order, EINVAL);
    order->sources[order->descriptor_count] = source;
    order->targets[order->descriptor_count++] = target;
}

static const char *path_of(const cproc_order *order)
{
    const char *path = default_path;
    for (size_t i = 0; i < order->variables.count; i++) /* the last one wins, as in a shell */
        if (strncmp(order->variables.items[i], "PATH=", 5) == 0)
            path = order->variables.items[i] + 5;
    return path;
}

int cproc_order_find_candidates(cproc_order *order)
{
    if (order->spoiled != 0) return order->spoiled;
    if (order->arguments.count == 0) return EINVAL;
    const char *command = order->arguments.items[0];
    if (command[0] == '\0') return ENOENT;
    if (strchr(command, '/') != NULL) {
        char *copy = copy_of(order, command);
        return copy == NULL ? ENOMEM : append(order, &order->candidates, copy);
    }
    const char *rest = path_of(order);
    for (;;) {
        size_t length = strcspn(rest, ":");
        /* An empty element is the working directory, by POSIX. */
        const char *element = length == 0 ? "." : rest;
        int width = length == 0 ? 1 : (int)length;
        size_t size = (size_t)width + 1 + strlen(command) + 1;
        char *path = take(order, size);
        if (path == NULL) return ENOMEM;
        snprintf(path, size, "%.*s/%s", width, element, command);
        int error = append(order, &order->candidates, path);
        if (error != 0) return error;
        if (rest[length] == '\0') return 0;
        rest += length + 1;
    }
}

static cproc_detail explain_one(const char *path, int start, int error)
{
    struct stat file;
    if (fstatat(start, path, &file, 0) != 0) return CPROC_DETAIL_NONE;
    if (S_ISDIR(file.st_mode))
        return error == EACCES ? CPROC_DETAIL_IS_DIRECTORY : CPROC_DETAIL_NONE;
    if (error == ENOENT) return CPROC_DETAIL_NO_INTERPRETER;
    if (error == EACCES && (file.st_mode & 0111) == 0) return CPROC_DETAIL_NOT_EXECUTABLE;
    return CPROC_DETAIL_NONE;
}

cproc_detail cproc_explain(const cproc_order *order, size_t candidate, int error)
{
    int start = AT_FDCWD;
    if (order->directory != NULL) {
        start = open(order->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (start < 0) return CPROC_DETAIL_NONE;
    }
    cproc_detail detail = CPROC_DETAIL_NONE;
    /* Nothing was found under any of the names, so each may be the one that was meant. */
    size_t first = error == ENOENT ? 0 : candidate;
    size_t end = error == ENOENT ? order->candidates.count : candidate + 1;
    for (size_t i = first; i < end && detail == CPROC_DETAIL_NONE; i++)
        detail = explain_one(order->candidates.items[i], start, error);
    if (start >= 0) close(start);
    return detail;
}
