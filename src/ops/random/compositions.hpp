// Compositions: distributions of numbers and of vectors that are composed of NumPy's, as expressions over consecutive
// draws from one state. They are in one table; the op ComposedDraw (ops/random/composed.cpp) is a draw from any of
// them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/ops/random.hpp"
#include "ops/random/domain.hpp"

namespace bitale {

// The source of a composition's draws: a state, and the lengths of the draw.
class DrawSource {
 public:
  DrawSource(Variable state, Shape lengths) : state_(std::move(state)), lengths_(std::move(lengths)) {}
  const Variable& state() const { return state_; }

  // A draw from a distribution of NumPy's, with these further lengths.
  Variable draw(std::string_view distribution, Variables parameters = {}, const Shape& further = {});
  // A number from 0 up to 1, as NumPy's `uniform`; for a counter-based stream, 0 does not occur.
  Variable unit();
  Variable rows(std::string_view distribution, const Variable& length, const Variables& parameters = {});

 private:
  Variable state_;
  const Shape lengths_;
};

struct ComposedParameter {
  std::string_view name;
  DType dtype = DType::Float64;
  int core_ndim = 0;  // the number of its last dimensions that are its own
};

struct Composition {
  std::string_view name;
  std::vector<ComposedParameter> parameters;
  DType result;
  std::function<Variable(DrawSource& from, const Variables& parameters)> formula;
  // The core lengths of one draw, from the lengths of the parameters; null if a draw is a number.
  std::function<Shape(std::span<const Shape> parameters)> core_lengths;
  Domain domain;
  // Whether the parameters are in the domain, a scalar; null if there is no domain.
  std::function<Variable(const Variables& parameters)> holds;
};

// NotImplementedError for an unknown name.
const Composition& composition_named(std::string_view name);

// Adds to the table, when the program starts.
void register_composition(Composition composition);

// The range of a parameter. Comparisons are written so that nan is outside, unless NumPy lets it pass.
enum class Allowed { any, not_negative, not_negative_or_nan, positive, probability };

struct NumberParameter {
  std::string_view name;
  Allowed range = Allowed::any;
  DType dtype = DType::Float64;
};

// A composition of numbers whose domain is a range for each parameter and, if `in_order` is given, the condition that
// the first of these two parameters is at most the second.
Composition composition_of_numbers(std::string_view name, std::vector<NumberParameter> parameters, DType result,
                                   Variable (*formula)(DrawSource&, const Variables&),
                                   std::optional<std::pair<std::size_t, std::size_t>> in_order = {});

// Those whose parameters are vectors.
std::vector<Composition> compositions_of_vectors();

}  // namespace bitale
