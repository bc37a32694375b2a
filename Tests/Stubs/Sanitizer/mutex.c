// Tells the thread sanitizer what Swift's `Mutex` does on Linux.
//
// A lock that is free is taken by an atomic operation in our own code, which the sanitizer sees. One that is held is
// handed over by the kernel (a futex with priority inheritance), inside the runtime library, which it does not see: it
// then reports races between two holders of the same lock. The two functions below stand before the runtime's own, call
// them, and say what they did. Nothing else is hidden: memory that no lock guards is reported as before.
//
// Linked into the tests by scripts/tsan alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// _MutexHandle._lockSlow(UInt32) and _MutexHandle._unlockSlow() of the module Synchronization.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void (*lock_function)(uint32_t thread, SELF void *handle);
typedef SWIFT void (*unlock_function)(SELF void *handle);

static lock_function runtime_lock;
static unlock_function runtime_unlock;

__attribute__((constructor)) static void find(void) {
    runtime_lock = (lock_function)dlsym(RTLD_NEXT, LOCK);
    runtime_unlock = (unlock_function)dlsym(RTLD_NEXT, UNLOCK);
    if (!runtime_lock || !runtime_unlock) {
        fprintf(stderr, "mutex.c: this Swift's Mutex is made differently; see scripts/tsan\n");
        abort();
    }
}

SWIFT void annotated_lock(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT void annotated_unlock(SELF void *handle) __asm__(UNLOCK);

SWIFT void annotated_lock(uint32_t thread, SELF void *handle) {
    runtime_lock(thread, handle);
    __tsan_acquire(handle);
}

SWIFT void annotated_unlock(SELF void *handle) {
    __tsan_release(handle);
    runtime_unlock(handle);
}
