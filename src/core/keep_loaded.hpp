// Plugins: libraries that a program opens while it runs, and that register ops, rules or runtime functions. Graphs and
// compiled functions then hold pointers into them, so they must not be unloaded.
#pragma once

namespace bitale {

// Keeps the library that contains this address loaded until the process ends, whatever dlclose is told. Costs two
// comparisons for addresses of this library.
void keep_loaded(const void* address);

}  // namespace bitale
