#include "ops/linalg/core_lengths.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

using Names = std::vector<std::string_view>;  // of the dimensions of one input

// The inputs' side of a signature: "(m,m),(m,k)".
std::string_view inputs_of(std::string_view signature) { return signature.substr(0, signature.find("->")); }

std::vector<Names> names_of(std::string_view signature) {
  std::vector<Names> out;
  const std::string_view text = inputs_of(signature);
  for (std::size_t open = text.find('('); open != text.npos; open = text.find('(', open + 1)) {
    Names& names = out.emplace_back();
    const std::size_t close = text.find(')', open);
    for (std::size_t at = open + 1; at < close;) {
      const std::size_t end = std::min(text.find(',', at), close);
      names.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  return out;
}

// What is wrong when two lengths of this name differ, of which the second is along this axis of an input.
std::string expectation(std::string_view who, std::string_view signature, const Names& names, std::size_t axis) {
  const bool is_square = axis == 1 && names[0] == names[1];
  if (is_square) return cat(who, ": expected square matrices");
  std::string shapes(inputs_of(signature));  // without the parts of complex numbers, which are no concern of users
  for (std::size_t at; (at = shapes.find(",c)")) != shapes.npos;) shapes.erase(at, 2);
  return cat(who, ": expected inputs of the shapes ", shapes);
}

// Calls compare(first, second, input, axis) for each length that has the name of an earlier one. `length_of(i, k, n)`:
// that of dimension k of the n of the core of input i.
template <class Length, class LengthOf, class Compare>
void for_each_pair(const std::vector<Names>& inputs, const LengthOf& length_of, const Compare& compare) {
  std::vector<std::pair<std::string_view, Length>> known;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t k = 0; k < inputs[i].size(); ++k) {
      const Length length = length_of(i, k, inputs[i].size());
      const auto same = std::find_if(known.begin(), known.end(), [&](auto& one) { return one.first == inputs[i][k]; });
      if (same == known.end())
        known.emplace_back(inputs[i][k], length);
      else
        compare(same->second, length, i, k);
    }
}

template <class LengthOf>
void check(std::string_view who, std::string_view signature, const LengthOf& length_of) {
  const std::vector<Names> inputs = names_of(signature);
  for_each_pair<std::int64_t>(
      inputs, length_of, [&](std::int64_t& first, std::int64_t second, std::size_t input, std::size_t axis) {
        if (first == unknown_length) first = second;
        if (first == second || second == unknown_length) return;
        const std::string expected = expectation(who, signature, inputs[input], axis);
        const bool is_square = expected.ends_with("matrices");
        throw ShapeError(is_square ? cat(expected, ", got ", first, " rows and ", second, " columns")
                                   : cat(expected, ", got ", inputs[input][axis], " = ", first, " and ", second));
      });
}

}  // namespace

void check_lengths(std::string_view who, std::string_view signature, std::span<const Array> inputs) {
  check(who, signature, [&](std::size_t i, std::size_t k, std::size_t) { return inputs[i].shape(int(k)); });
}

void check_lengths(std::string_view who, std::string_view signature, std::span<const Variable> inputs) {
  check(who, signature, [&](std::size_t i, std::size_t k, std::size_t) { return inputs[i].static_shape()[k]; });
}

void check_lengths(std::string_view who, std::string_view signature, TensorLowering& to) {
  check(who, signature, [&](std::size_t i, std::size_t k, std::size_t ndim) {
    const Dims lengths = to.lengths_in(int(i));
    return lengths[lengths.size() - ndim + k];
  });
}

void require_lengths(std::string_view who, std::string_view signature, Lowering& to) {
  const std::vector<Names> inputs = names_of(signature);
  for_each_pair<program::Expr>(
      inputs, [&](std::size_t i, std::size_t k, std::size_t) { return to.shape_in(int(i))[k]; },
      [&](program::Expr first, program::Expr second, std::size_t input, std::size_t axis) {
        to.require(equal(first, second), expectation(who, signature, inputs[input], axis));
      });
}

}  // namespace bitale
