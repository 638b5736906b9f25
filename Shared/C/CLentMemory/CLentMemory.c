#define _GNU_SOURCE
#include "CLentMemory.h"

#include <assert.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local struct {
    void *memory;
    size_t length;
    bool is_taken;
} loan;

static const size_t huge_page = 2 << 20;

static size_t rounded(size_t length) { return (length + huge_page - 1) / huge_page * huge_page; }

void *latchkey_memory_new(size_t length) {
    // One huge page more than is needed, of which is given back what lies outside of whole ones.
    size_t wanted = rounded(length);
    char *start = mmap(NULL, wanted + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t before = (huge_page - (size_t)start % huge_page) % huge_page;
    if (before > 0) munmap(start, before);
    char *memory = start + before;
    munmap(memory + wanted, huge_page - before);
    // Both are wishes.
    madvise(memory, wanted, MADV_HUGEPAGE);
    madvise(memory, wanted, MADV_DONTDUMP);
    return memory;
}

void latchkey_memory_delete(void *memory, size_t length) { munmap(memory, rounded(length)); }

void latchkey_memory_lend(void *memory, size_t length) {
    assert(loan.memory == NULL);
    loan.memory = memory;
    loan.length = length;
    loan.is_taken = false;
}

bool latchkey_memory_take_back(void) {
    bool was_taken = loan.is_taken;
    loan.memory = NULL;
    return was_taken;
}

#ifdef _FILE_OFFSET_BITS
#error "mmap would be mmap64, and call itself"
#endif
#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer) && !__has_feature(memory_sanitizer)
// These two come before the C library's for everything that is linked dynamically; the C library itself does not go through them.
void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    if (loan.memory != NULL && !loan.is_taken && length == loan.length && address == NULL && file == -1
        && flags == (MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE)) {
        loan.is_taken = true;
        return loan.memory;
    }
    return mmap64(address, length, protection, flags, file, offset);
}

int munmap(void *address, size_t length) {
    if (loan.memory != NULL && address == loan.memory && length == loan.length && loan.is_taken) return 0;
    return (int)syscall(SYS_munmap, address, length);
}
#endif
