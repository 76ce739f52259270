#include "bitale/core/null_handle.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

void refuse_null_handle(const char* kind, const Location& where) {
  ValueError error(cat("a null ", kind,
                       " was used: one that was default-constructed or moved from, the answer \"none\" ",
                       "of a function, or what operator[] of a std::map gives for a missing key (its `at` throws). ",
                       "`defined()` tells whether a handle is null"));
  if (const std::string line = where.str(); !line.empty()) error.add("at", line);
  throw error;
}

}  // namespace bitale
