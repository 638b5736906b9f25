#pragma once
#include <microhttpd.h>
#include <sys/prctl.h>

// Names the calling thread for `ps` and debuggers; at most 15 bytes count.
static inline void latchkey_name_this_thread(const char *name) {
    prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
}
