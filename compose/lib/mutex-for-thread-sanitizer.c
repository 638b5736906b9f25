// Loaded before the tests that run under Thread Sanitizer.
//
// The slow paths of Swift's Mutex live in libswiftSynchronization, which is not instrumented, and the kernel hands a
// contended lock over. Thread Sanitizer sees neither, and reports races of everything that contended mutexes guard. Here the
// slow paths tell it what they do. Nothing is suppressed: real races are found as before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Absent in programs without Thread Sanitizer, which may be started with this library too.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

typedef SWIFT void (*lock_slow)(uint32_t thread, SELF void *mutex);
typedef SWIFT bool (*try_lock_slow)(SELF void *mutex);
typedef SWIFT void (*unlock_slow)(SELF void *mutex);

SWIFT void latchkey_lock(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT bool latchkey_try_lock(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT void latchkey_unlock(SELF void *mutex) __asm__(UNLOCK);

SWIFT void latchkey_lock(uint32_t thread, SELF void *mutex) {
    ((lock_slow)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool latchkey_try_lock(SELF void *mutex) {
    bool taken = ((try_lock_slow)dlsym(RTLD_NEXT, TRY_LOCK))(mutex);
    if (taken && __tsan_acquire) __tsan_acquire(mutex);
    return taken;
}

SWIFT void latchkey_unlock(SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((unlock_slow)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
