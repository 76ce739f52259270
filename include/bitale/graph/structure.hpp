// What is known of a matrix, or of each matrix of a batch: that it is diagonal, triangular, symmetric, positive
// definite, orthogonal. Users state such facts (assume, in ops/assume.hpp), and ops derive facts of their outputs from
// the known facts of their inputs (StatesStructure). They are meant mathematically: rounding, nan and infinities don't
// count.
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
  Square,         // as many rows as columns; diagonal, symmetric and orthogonal matrices are square
  Tridiagonal,    // zero but on the main diagonal and those next to it
  UnitMagnitude,  // of a tensor of any rank: each element has the absolute value 1
  SkewSymmetric,  // the negative of its transpose
};
inline constexpr int fact_count = 16;
// PyTensor's names of the key and of the argument of assume: "pd", "positive_definite".
std::string_view short_name(Fact fact);
std::string_view long_name(Fact fact);

// The facts that are known to hold, and those known not to hold, closed under implication.
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
  // The arguments of assume that both hold and do not hold.
  std::vector<std::string> contradictions() const;

  void add(Fact fact);
  void exclude(Fact fact);
  void add(const Structure& other);
  // The facts of the transposed matrix.
  Structure transposed() const;
  // The facts that both contain.
  Structure common(const Structure& other) const;

  // "pd,!diag", including facts that follow from others; parse is the inverse. ValueError for another text.
  std::string str() const;
  static Structure parse(std::string_view text);
  bool operator==(const Structure&) const = default;

 private:
  static std::uint16_t bit(Fact fact) { return std::uint16_t(1u << unsigned(fact)); }
  void close();
  std::uint16_t holds_ = 0, fails_ = 0;
};

// The structures of a node's inputs, computed on request.
class InputStructures {
 public:
  virtual ~InputStructures() = default;
  virtual Structure of(int input) = 0;
};

// Base class, besides Op, of ops that derive facts of their outputs as matrices.
class StatesStructure {
 public:
  virtual ~StatesStructure() = default;
  virtual Structure structure(const Apply& node, int output, InputStructures& inputs) const = 0;
  // The facts that a node with this op states of its input.
  virtual Structure stated_of_input(int /*input*/) const { return {}; }
};

}  // namespace bitale
