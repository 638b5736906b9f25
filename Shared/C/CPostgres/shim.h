#pragma once
#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// Function-like macros and variadic functions are not imported into Swift.
static inline int latchkey_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
static inline int latchkey_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
