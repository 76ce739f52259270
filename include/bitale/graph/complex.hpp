// Complex numbers in graphs. Complex dtypes are dtypes like others where expressions are written, differentiated and
// evaluated. Native code supports real numbers only: the pass `split_complex` (rules/split_complex.cpp) rewrites each
// node on complex tensors as nodes on their real and imaginary parts. For this, an op declares its ComplexForm and,
// where its parts are computed differently from real numbers, implements `complex_parts`.
#pragma once

#include <optional>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

enum class ComplexForm : std::uint8_t {
  none,      // not defined for complex inputs, or not yet implemented: building a node is an error
  by_parts,  // applies the same op to the real and to the imaginary part: it moves elements, or is linear
  formula,   // `complex_parts` is the complete definition, and is what is evaluated
  own,       // `perform` and `complex_parts` handle complex inputs
  memory,    // supported by native code: it builds complex memory from parts, or the other way round
};

// A complex value as two tensors, its real and its imaginary part. A null part is 0.
struct ComplexParts {
  Variable real, imag;
};
using PartsOfOutputs = std::optional<std::vector<ComplexParts>>;

bool is_complex(const Variable& variable);
// Whether an input or an output is complex.
bool touches_complex(const Apply& node);

}  // namespace bitale
