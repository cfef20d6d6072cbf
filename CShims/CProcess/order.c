#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char default_path[] =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void cproc_order_spoil(cproc_order *order, int error)
{
    if (order->spoiled == 0) order->spoiled = error;
}

/* Takes `text` over. */
static int append(cproc_texts *texts, char *text)
{
    if (texts->count + 1 >= texts->capacity) {
        size_t capacity = texts->capacity == 0 ? 16 : texts->capacity * 2;
        char **items = realloc(texts->items, capacity * sizeof *items);
        if (items == NULL) {
            free(text);
            return ENOMEM;
        }
        texts->items = items;
        texts->capacity = capacity;
    }
    texts->items[texts->count++] = text;
    texts->items[texts->count] = NULL;
    return 0;
}

static void append_copy(cproc_order *order, cproc_texts *texts, const char *text)
{
    char *copy = strdup(text);
    int error = copy == NULL ? ENOMEM : append(texts, copy);
    if (error != 0) cproc_order_spoil(order, error);
}

static void release(cproc_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) free(texts->items[i]);
    free(texts->items);
}

cproc_order *cproc_order_create(uint64_t ticket)
{
    cproc_order *order = calloc(1, sizeof *order);
    if (order == NULL) return NULL;
    order->ticket = ticket;
    order->cgroup = -1;
    return order;
}

void cproc_order_destroy(cproc_order *order)
{
    release(&order->arguments);
    release(&order->variables);
    release(&order->candidates);
    free(order->directory);
    free(order->groups);
    free(order);
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
    char *text = calloc(1, length + 1 + 12); /* "=", ten digits at most, the end */
    if (text == NULL) return cproc_order_spoil(order, ENOMEM);
    memcpy(text, name, length);
    text[length] = '=';
    if (append(&order->variables, text) != 0) return cproc_order_spoil(order, ENOMEM);
    order->pid_values[order->pid_value_count++] = text + length + 1;
}

void cproc_order_set_directory(cproc_order *order, const char *path)
{
    free(order->directory);
    order->directory = strdup(path);
    if (order->directory == NULL) cproc_order_spoil(order, ENOMEM);
}

void cproc_order_set_identity(
    cproc_order *order, uint32_t user, uint32_t group, const uint32_t *groups, size_t count)
{
    if (count > CPROC_ORDER_GROUPS) return cproc_order_spoil(order, E2BIG);
    free(order->groups);
    order->groups = calloc(count + 1, sizeof *order->groups);
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
        char *copy = strdup(command);
        return copy == NULL ? ENOMEM : append(&order->candidates, copy);
    }
    const char *rest = path_of(order);
    for (;;) {
        size_t length = strcspn(rest, ":");
        /* An empty element is the working directory, by POSIX. */
        const char *element = length == 0 ? "." : rest;
        int width = length == 0 ? 1 : (int)length;
        char *path = NULL;
        if (asprintf(&path, "%.*s/%s", width, element, command) < 0) return ENOMEM;
        int error = append(&order->candidates, path);
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
