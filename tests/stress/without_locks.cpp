// Preloaded into a process, makes every way to lock a file fail as it does on a network file system without locks.
#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdarg>

namespace {

bool is_lock(int command) {
  switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return true;
    default: return false;
  }
}

int refuse() {
  errno = ENOLCK;
  return -1;
}

using Control = int (*)(int, int, ...);

int control(Control real, int file, int command, void* argument) {
  return is_lock(command) ? refuse() : real(file, command, argument);
}

Control next(const char* name) { return reinterpret_cast<Control>(dlsym(RTLD_NEXT, name)); }

}  // namespace

extern "C" {

int fcntl(int file, int command, ...) {
  va_list list;
  va_start(list, command);
  void* argument = va_arg(list, void*);
  va_end(list);
  static const Control real = next("fcntl");
  return control(real, file, command, argument);
}

int fcntl64(int file, int command, ...) {
  va_list list;
  va_start(list, command);
  void* argument = va_arg(list, void*);
  va_end(list);
  static const Control real = next("fcntl64");
  return control(real, file, command, argument);
}

int flock(int, int) { return refuse(); }
int lockf(int, int, off_t) { return refuse(); }
int lockf64(int, int, off64_t) { return refuse(); }
int link(const char*, const char*) { return refuse(); }
int linkat(int, const char*, int, const char*, int) { return refuse(); }

}  // extern "C"
