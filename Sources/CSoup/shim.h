#ifndef KIZUNA_CSOUP_SHIM_H
#define KIZUNA_CSOUP_SHIM_H
#include <glib-unix.h>
#include <libsoup/soup.h>
#include <sys/syscall.h>
#include "server.h"

extern long syscall(long number, ...);

// A file that becomes readable when the process ends; -1 where the kernel has none. The C library may be older than the
// call.
static inline int kizuna_pidfd_open(int process) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, process, 0);
#else
    return -1;
#endif
}
#endif
