#ifndef KIZUNA_CPOSTGRES_SHIM_H
#define KIZUNA_CPOSTGRES_SHIM_H
#include <libpq-fe.h>
#endif
