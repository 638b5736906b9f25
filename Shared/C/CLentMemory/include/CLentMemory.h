#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Memory for a library that maps some for each call and unmaps it again, and offers no other way: a page fault for every 4 KiB,
/// each time. `length` in bytes. In huge pages where the system has them, and left out of core dumps. `NULL` where there is none.
void *latchkey_memory_new(size_t length);
/// With the length that it was made with, and not while it is lent.
void latchkey_memory_delete(void *memory, size_t length);

/// This is what the calling thread gets for its next private, anonymous, populated mapping of exactly `length` bytes, with whatever
/// is in it; unmapping it then does nothing. All other mappings, and all of other threads, are as ever. One loan at a time.
void latchkey_memory_lend(void *memory, size_t length);
/// Ends the loan of this thread. Returns whether the memory was taken. It never is under a sanitizer, which has to see mappings
/// itself.
bool latchkey_memory_take_back(void);
