#ifndef KIZUNA_CSQLITE_SHIM_H
#define KIZUNA_CSQLITE_SHIM_H
#include <sqlite3.h>

// Swift does not import function-like macros or casts, so the two destructor
// constants are given as functions.
static inline sqlite3_destructor_type kizuna_sqlite_static(void) { return SQLITE_STATIC; }
static inline sqlite3_destructor_type kizuna_sqlite_transient(void) { return SQLITE_TRANSIENT; }

#endif
