// Complex numbers in graphs. Complex dtypes are dtypes like others where expressions are written, differentiated and
// evaluated. Native code knows real numbers only: the pass `split_complex` (rules/split_complex.cpp) writes each node
// on complex tensors as nodes on their real and imaginary parts. What an op has to say for that is its ComplexForm and,
// where its parts are computed differently from real numbers, `complex_parts`.
#pragma once

#include <optional>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale {

enum class ComplexForm : std::uint8_t {
  none,      // not defined for complex inputs, or not yet: building a node is an error
  by_parts,  // does the same with the real and with the imaginary part: it moves elements, or is linear
  formula,   // `complex_parts` says all, and is what is evaluated
  own,       // `perform` and `complex_parts` treat complex inputs
  memory,    // native code knows it: it makes complex memory out of parts, or the other way round
};

// A complex value, of which one tensor is the real part and the other the imaginary one. None: that part is 0.
struct ComplexParts {
  Variable real, imag;
};
using PartsOfOutputs = std::optional<std::vector<ComplexParts>>;

bool is_complex(const Variable& variable);
// Whether an input or an output is complex.
bool touches_complex(const Apply& node);

}  // namespace bitale
