// Memory of loaded libraries. Loading touches pages that are not needed again soon: relocations, initializers, and the
// pages that the system maps around each touched one. They can be released, and are read from the file again when
// touched.
#pragma once

namespace bitale {

// Releases the code and the constants of the library that contains the address. Its code must not have been modified,
// as by a debugger, or by a loader where code is not position-independent.
void give_back_pages(const void* address);

// The same in release builds only, which are not debugged.
inline void give_back_pages_of_release([[maybe_unused]] const void* address) {
#ifdef NDEBUG
  give_back_pages(address);
#endif
}

}  // namespace bitale
