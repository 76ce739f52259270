// Checks of the inputs of ops that take a generator's state.
#pragma once

#include <string_view>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

// The input's type. TypeError if it is not a generator.
inline const RandomType& require_generator(const Variable& input, std::string_view who) {
  if (const RandomType* type = as_random(input.type())) return *type;
  throw TypeError(cat(who, ": expected a random generator, got `", input.str(), "` of type ", input.type()->str()));
}

inline bool is_counter_based(const Variable& input) {
  const RandomType* type = as_random(input.type());
  return type && type->generator == BitGenerator::Threefry;
}

inline void require_counter_based(const Variable& input, std::string_view who) {
  if (require_generator(input, who).generator != BitGenerator::Threefry)
    throw TypeError(cat(who, ": expected a counter-based stream, such as bitale.random.stream(1), got `", input.str(),
                        "` of type ", input.type()->str()));
}

}  // namespace bitale
