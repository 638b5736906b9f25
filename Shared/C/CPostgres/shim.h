#pragma once
#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>

// Function-like macros are not imported into Swift.
static inline int latchkey_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
