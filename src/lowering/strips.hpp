// Strip-mining: the iterations of a loop as strips of equal width, of which the last may be shorter.
#pragma once

#include <string_view>

#include "lowering/declarations.hpp"

namespace bitale::lowering {

struct Strips {
  Expr count, index;  // of strips; which of them
  Expr start, size;   // of a strip
  Strips(Declarations& declare, std::string_view name, Expr extent, Expr width)
      : count((extent + (width - 1)) / width),
        index(declare.index(name, count)),
        start(index * width),
        size(min(width, extent - start)) {}
};

}  // namespace bitale::lowering
