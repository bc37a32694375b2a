#ifndef KIZUNA_CSOUP_SHIM_H
#define KIZUNA_CSOUP_SHIM_H
#include <libsoup/soup.h>
#include "server.h"
#endif
