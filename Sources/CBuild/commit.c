#include "CBuild.h"

#define TEXT(name) #name
#define VALUE(name) TEXT(name)

// Package.swift defines it from the environment. A C file of its own is compiled anew in a moment when it changes.
const char *runbus_build_commit(void) {
#ifdef RUNBUS_COMMIT
  return VALUE(RUNBUS_COMMIT);
#else
  return "";
#endif
}
