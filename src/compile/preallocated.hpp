// Memory for results as callers may provide it, for checks: with any strides, and with arbitrary old contents.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/core/array.hpp"

namespace bitale {

// The requested kinds. Throws a ValueError with a suggestion for an unknown one.
std::vector<std::string> memory_kinds(std::string_view colon_list);

struct Preallocated {
  std::string name;            // "strided (2, -1)"
  std::vector<Array> targets;  // one per value
  bool fits = true;            // the targets have the values' lengths
  std::vector<Array> around;   // the whole memory that each target is part of

  // If memory around a target was written to: its contents before and after. The targets are overwritten.
  std::optional<std::pair<Array, Array>> damage() const;
};

// Memory of these kinds for results like `values`; strides and lengths are varied along the first `ndim` dimensions.
std::vector<Preallocated> preallocated(const std::vector<Array>& values, const std::vector<std::string>& kinds,
                                       int ndim);

}  // namespace bitale
