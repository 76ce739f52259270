// Declarations: the indices, variables and buffers of a Program in the making, each under a name of its own.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "program/program.hpp"

namespace bitale::lowering {

using program::Expr;

class Declarations {
 public:
  explicit Declarations(program::Program& program);  // continues after those that the program has

  // The index of a loop of `extent` iterations; the name is for readers of the program.
  Expr index(std::string_view name, Expr extent);
  Expr var(DType dtype) { return program_.pool->var(next_var_++, dtype); }
  std::int64_t buffer(program::Buffer buffer);  // returns its number

  // The declarations so far. Later ones may be withdrawn if nothing refers to them.
  struct Mark {
    std::int64_t buffers = 0, indices = 0, vars = 0, checks = 0, callbacks = 0;
  };
  Mark mark() const;
  void withdraw(const Mark& behind);

  // The indices of loops over a domain: loops of equal depth and extent have the same one, and an extent of 1 gives the
  // constant 0.
  std::vector<Expr> indices_of(std::span<const Expr> domain);
  Expr extent_of(Expr index) const { return extents_[std::size_t(index.payload())]; }
  // The values that an index expression takes, from first to last, if they follow from constants.
  std::optional<std::pair<std::int64_t, std::int64_t>> range_of(Expr index, int depth = 0) const;

 private:
  program::Program& program_;
  std::int64_t next_var_ = 0;
  std::vector<Expr> extents_;  // of indices, by number
  std::unordered_set<std::string> index_names_, buffer_names_;
  std::unordered_map<std::uint64_t, Expr> by_depth_;  // and extent
};

}  // namespace bitale::lowering
