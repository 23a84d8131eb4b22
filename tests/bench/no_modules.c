// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD for Scaphandre on a kernel without modules, where it gives up for want of /proc/modules: it reads
// $MODULES instead.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef int Open(const char *path, int flags, ...);

static const char *place_of(const char *path) {
  return strcmp(path, "/proc/modules") == 0 ? getenv("MODULES") : path;
}

#define REPLACE(NAME)                                                       \
  int NAME(const char *path, int flags, ...) {                              \
    va_list arguments;                                                      \
    va_start(arguments, flags);                                             \
    const int mode = va_arg(arguments, int);                                \
    va_end(arguments);                                                      \
    return ((Open *)dlsym(RTLD_NEXT, #NAME))(place_of(path), flags, mode);  \
  }

REPLACE(open)
REPLACE(open64)
