// Address space under a limit of the process (ulimit -v, RLIMIT_AS). Libraries such as LLVM and OpenBLAS end the
// process, or never return, where the system refuses them memory, and so does the C library for the data of a thread.
// What they will need is asked for before they are called.
#pragma once

#include <cstddef>
#include <string_view>

namespace bitale {

// Whether so many bytes can still be mapped; true where there is no limit. Threads may take them in the meantime.
bool has_address_space(std::size_t bytes);

// Throws OutOfMemoryError where they cannot, after memory that is kept for later calls was released. `doing` begins the
// message: "compiling".
void require_address_space(std::size_t bytes, std::string_view doing, std::string_view advice);

// What a thread takes: glibc maps twice the 64 MiB of its heap, to align it, and the stack.
inline constexpr std::size_t address_space_of_thread = std::size_t(144) << 20;

}  // namespace bitale
