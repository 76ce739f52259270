// Values made of variables: tuples, pairs, arrays, vectors, maps, optionals and aggregates of programs. `variables_of`
// takes one apart, `with_variables` puts another one of the same structure together. The derivatives of
// autodiff/tree.hpp take and return them.
//
//   struct Params { Variable W, b; };
//   BITALE_TREE(Params, W, b)  // all members, in their order, in the namespace of the struct
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/variable.hpp"

// Says which members an aggregate has: all of them, in the order of their declaration.
#define BITALE_TREE(Type, ...)                               \
  [[maybe_unused]] inline auto bitale_members(Type& value) { \
    auto& [__VA_ARGS__] = value;                             \
    return std::tie(__VA_ARGS__);                            \
  }

namespace bitale {

namespace tree_detail {

template <class T>
concept Aggregate = requires(T& value) {
  bitale_members(value);
};

template <class F>
void each(Variable& variable, F&& f) {
  f(variable);
}
// Declared before they are defined: the values of one kind may have those of another.
template <class T, class F>
void each(std::vector<T>& values, F&& f);
template <class T, std::size_t N, class F>
void each(std::array<T, N>& values, F&& f);
template <class T, class F>
void each(std::optional<T>& value, F&& f);
template <class Key, class T, class... Rest, class F>
void each(std::map<Key, T, Rest...>& values, F&& f);
template <class A, class B, class F>
void each(std::pair<A, B>& value, F&& f);
template <class... T, class F>
void each(std::tuple<T...>& values, F&& f);
template <Aggregate T, class F>
void each(T& value, F&& f);

template <class T, class F>
void each(std::vector<T>& values, F&& f) {
  for (T& value : values) each(value, f);
}
template <class T, std::size_t N, class F>
void each(std::array<T, N>& values, F&& f) {
  for (T& value : values) each(value, f);
}
template <class T, class F>
void each(std::optional<T>& value, F&& f) {
  if (value) each(*value, f);
}
template <class Key, class T, class... Rest, class F>
void each(std::map<Key, T, Rest...>& values, F&& f) {
  for (auto& [key, value] : values) each(value, f);
}
template <class A, class B, class F>
void each(std::pair<A, B>& value, F&& f) {
  each(value.first, f);
  each(value.second, f);
}
template <class... T, class F>
void each(std::tuple<T...>& values, F&& f) {
  std::apply([&](auto&... value) { (each(value, f), ...); }, values);
}
template <Aggregate T, class F>
void each(T& value, F&& f) {
  std::apply([&](auto&... member) { (each(member, f), ...); }, bitale_members(value));
}

}  // namespace tree_detail

// A value that `variables_of` takes apart.
template <class T>
concept Tree = requires(T& value) {
  tree_detail::each(value, [](Variable&) {});
};

// The variables of a value, in the order of members, elements and keys.
template <Tree T>
Variables variables_of(const T& value) {
  Variables out;
  T copy = value;
  tree_detail::each(copy, [&](Variable& variable) { out.push_back(variable); });
  return out;
}

// A value of the same structure with these variables. ValueError unless there are as many.
template <Tree T>
T with_variables(T value, const Variables& variables) {
  std::size_t next = 0;
  tree_detail::each(value, [&](Variable& variable) {
    if (next < variables.size()) variable = variables[next];
    ++next;
  });
  if (next != variables.size())
    throw ValueError(cat("with_variables: expected ", next, " variables, got ", variables.size()));
  return value;
}

}  // namespace bitale
