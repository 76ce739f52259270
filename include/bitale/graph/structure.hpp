// What is known of a matrix, or of each matrix of a batch: that it is diagonal, triangular, symmetric, positive
// definite, orthogonal. Users state such facts (assume, in ops/assume.hpp), and ops say what follows for their outputs
// from what is known of their inputs (StatesStructure). They are meant as in mathematics: rounding, nan and infinities
// don't count.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

// A fact and its contrary follow from what was stated.
class ConflictingAssumptionsError : public ValueError {
 public:
  explicit ConflictingAssumptionsError(std::string message) : ValueError(std::move(message)) {}
};

enum class Fact : std::uint8_t {
  Diagonal,
  LowerTriangular,
  UpperTriangular,
  Symmetric,
  PositiveDefinite,
  Orthogonal,
  Selection,         // each row is one of the unit vectors
  Permutation,       // of rows: a selection in which each unit vector occurs once
  UniqueIndices,     // of a tensor of indices: none occurs twice
  PositiveDiagonal,  // all elements of the diagonal are greater than 0
  UnitDiagonal,      // all elements of the diagonal are 1
  PositiveSemidefinite,
  Square,  // as many rows as columns; diagonal, symmetric and orthogonal matrices are
};
inline constexpr int fact_count = 13;
// PyTensor's names of the key and of the argument of assume: "pd", "positive_definite".
std::string_view short_name(Fact fact);
std::string_view long_name(Fact fact);

// The facts that are known to hold, and those known not to hold, with all that follows from them.
class Structure {
 public:
  Structure() = default;
  explicit Structure(std::initializer_list<Fact> holding);

  bool is(Fact fact) const { return holds_ & bit(fact); }
  bool is_not(Fact fact) const { return fails_ & bit(fact); }
  bool is_identity() const { return is(Fact::Diagonal) && is(Fact::UnitDiagonal); }
  bool is_triangular() const { return is(Fact::LowerTriangular) || is(Fact::UpperTriangular); }
  bool is_unknown() const { return !holds_ && !fails_; }
  bool is_conflict() const { return holds_ & fails_; }
  // The arguments of assume that hold and do not.
  std::vector<std::string> contradictions() const;

  void add(Fact fact, bool holding = true);
  void add(const Structure& other);
  // Of the transposed matrix.
  Structure transposed() const;
  // What both say.
  Structure common(const Structure& other) const;

  // "pd,!diag", facts that follow from others included; and back. ValueError for another text.
  std::string str() const;
  static Structure parse(std::string_view text);
  bool operator==(const Structure&) const = default;

 private:
  static std::uint16_t bit(Fact fact) { return std::uint16_t(1u << unsigned(fact)); }
  void close();
  std::uint16_t holds_ = 0, fails_ = 0;
};

// What is known of a node's inputs, looked for when it is asked for.
class InputStructures {
 public:
  virtual ~InputStructures() = default;
  virtual Structure of(int input) = 0;
};

// An op that knows something of its outputs as matrices says so besides being an Op.
class StatesStructure {
 public:
  virtual ~StatesStructure() = default;
  virtual Structure structure(const Apply& node, int output, InputStructures& inputs) const = 0;
  // What a node with this op states of its input.
  virtual Structure stated_of_input(int /*input*/) const { return {}; }
};

}  // namespace bitale
