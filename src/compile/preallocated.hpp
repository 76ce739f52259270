// Memory for results as callers may bring it, for checks: of any strides, with what somebody left there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/core/array.hpp"

namespace bitale {

// Which kinds are asked for. ValueError with a suggestion for an unknown one.
std::vector<std::string> memory_kinds(std::string_view colon_list);

struct Preallocated {
  std::string name;            // "strided (2, -1)"
  std::vector<Array> targets;  // one per value
  bool fits = true;            // of the values' lengths
  std::vector<Array> around;   // all memory that the targets are part of

  // Memory around a target that was written to: as it was, and as it is. The targets are overwritten.
  std::optional<std::pair<Array, Array>> damage() const;
};

// Memory of these kinds for results like `values`, strides and lengths varied along the first `ndim` dimensions.
std::vector<Preallocated> preallocated(const std::vector<Array>& values, const std::vector<std::string>& kinds,
                                       int ndim);

}  // namespace bitale
