// What the objects of this system's libstdc++ and LLVM use of glibc, and the older glibc that packages are linked
// against does not have. Each of these has a plain counterpart there.
#include <sys/random.h>

#include <cstddef>
#include <cstdint>

extern "C" {

// Of glibc 2.32: false means that reference counts are always changed atomically.
char __libc_single_threaded = 0;

// Of glibc 2.36, for std::random_device.
std::uint32_t arc4random() {
  std::uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}

// Of glibc 2.33, for statistics of LLVM that are not asked for.
struct AllocatorFigures {
  std::size_t figures[10];
};
AllocatorFigures mallinfo2() { return {}; }

}  // extern "C"
