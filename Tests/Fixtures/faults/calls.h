#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Which of a kind's calls count: those that can fail that way on a real machine.
enum scope { ANY, FILES_ONLY, NEW_DESCRIPTOR, NEW_WATCH };

// Calls that fail alike.
struct kind {
    const char *name;
    // What they fail with.
    int error;
    // Where a path stands among the arguments; -1: nowhere.
    int path;
    enum scope scope;
    // Ends with the first -1.
    int numbers[5];
};

extern const struct kind kinds[];
extern const size_t kind_count;

// `NULL` for a name that no kind has.
const struct kind *kind_named(const char *name);

// Whether a call with these arguments, of a thread of the program, is one that counts.
bool counts(const struct kind *kind, pid_t thread, const unsigned long long arguments[6]);
