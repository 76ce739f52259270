#include "codegen/object/bound.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "bitale/core/error.hpp"
#include "codegen/object/machine.hpp"

namespace bitale::codegen {

// Each gets a page of its own, because memory that is executed is never written again.
void* bind_argument(void* target, int position, const void* value) {
  const Machine* machine = this_machine();
  if (!machine) throw NotImplementedError("addresses of functions for C are not implemented for this processor");
  const auto size = std::size_t(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw OutOfMemoryError("the system does not provide memory for code");
  machine->write_bound_jump(static_cast<std::uint8_t*>(memory), position, value, target);
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) {
    munmap(memory, size);
    throw OutOfMemoryError("the system does not allow executable memory");
  }
  __builtin___clear_cache(static_cast<char*>(memory), static_cast<char*>(memory) + size);
  return memory;
}

}  // namespace bitale::codegen
