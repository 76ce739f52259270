// Memory of loaded libraries. Loading touches pages that are not needed again soon: relocations, initializers, and what
// the system maps around each page that is touched. They can be given back, and come again from the file when touched.
#pragma once

namespace bitale {

// Gives back the code and the constants of the library in which the address lies. Nobody may have changed its code,
// as a debugger does, or a loader where code is not independent of its place.
void give_back_pages(const void* address);

// The same where nobody debugs: in releases.
inline void give_back_pages_of_release([[maybe_unused]] const void* address) {
#ifdef NDEBUG
  give_back_pages(address);
#endif
}

}  // namespace bitale
