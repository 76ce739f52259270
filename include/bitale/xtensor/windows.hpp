// Functions along a dimension whose elements depend on each other: groups, windows, shifts, differences, interpolation.
// Names and arguments are xarray's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bitale/xtensor/functions.hpp"
#include "bitale/xtensor/indexing.hpp"

namespace bitale::xtensor {

// A partition of the positions along a dimension, known while the expression is built: the number of the group of each
// position; a negative one is in no group. The result has `dim`, whose positions are the groups, in the dimension's
// place.
class Groups {
 public:
  // ValueError for numbers of groups that `dim` does not have.
  Groups(XVariable x, std::string along, std::vector<std::int64_t> group_of, Dim dim);

  // Sums over consecutive parts of the reordered positions; the sum of an empty group is 0.
  XVariable sum() const;
  XVariable mean() const;
  XVariable var(int ddof = 0) const;
  XVariable std_(int ddof = 0) const;
  XVariable count() const;  // int64, along the groups alone
  // Over the positions of each group, which are gathered in the loop that reduces them; a group that is much larger
  // than the others is reduced in parts. ValueError for an empty group.
  XVariable max() const;
  XVariable min() const;
  XVariable prod() const;
  XVariable all() const;
  XVariable any() const;
  XVariable first() const;
  XVariable last() const;
  // From values of the groups, the value of each position's group.
  XVariable spread(const XOperand& of_groups) const;
  const Dim& dim() const { return dim_; }

 private:
  std::int64_t group_count() const { return std::int64_t(members_.size()); }
  // `neutral` stands for the positions that the longest group has and another lacks; none: one of the group's own
  // positions does.
  using Reduction = XVariable (*)(const XOperand&, const Names&);
  XVariable reduced(const char* who, Reduction reduction, std::optional<double> neutral) const;

  XVariable x_;
  int axis_;
  std::vector<std::int64_t> group_of_;
  Dim dim_;
  std::vector<std::vector<std::int64_t>> members_;
};

// Groups of equal labels, whose dimension has the different labels, ascending, as its coordinates. Positions without a
// label (nan) are in no group. labels: of the positions along `along`; null: its coordinates. name: of the dimension of
// groups, by default that of the positions. ValueError for a dimension that is not there or has no coordinates, and for
// another number of labels than positions.
Groups groupby(const XOperand& x, const std::string& along, const CoordinatesRef& labels = {},
               const std::string& name = {});
// By numbers, labelled constants of one dimension, whose name the groups have by default.
Groups groupby(const XOperand& x, const XVariable& labels, const std::string& name = {});
// These numbers. NotImplementedError for what is computed in a call; ValueError for several dimensions.
const Array& constant_labels(const XVariable& labels);

// Windows of `length` positions that end at each position (or have it in their middle), along a new dimension.
// Positions before the beginning and after the end are nan; integers become floats.
enum class WindowPlace { End, Center };  // of the position that a window belongs to
XVariable windows(const XOperand& x, const std::string& dim, std::int64_t length, const Dim& window,
                  WindowPlace place = WindowPlace::End);
// A reduction of each window over its elements that are not nan; nan where there are fewer than `min_periods`, which
// are as many as the window has positions by default. `neutral` takes the place of missing elements.
struct RollingOptions {
  std::optional<std::int64_t> min_periods = {};
  WindowPlace place = WindowPlace::End;
  int ddof = 0;  // of Var and Std
};
enum class Rolling { Sum, Mean, Max, Min, Prod, Var, Std, Count };
XVariable rolling(const XOperand& x, const std::string& dim, std::int64_t length, Rolling reduction,
                  const RollingOptions& options = {});

// x moved by so many positions; those that become free are nan, or another scalar. Integers become floats unless there
// is one. Coordinates stay.
XVariable shift(const XOperand& x, const std::string& dim, std::int64_t periods,
                const std::optional<XOperand>& fill = {});
// x moved in a circle. Coordinates stay.
XVariable roll(const XOperand& x, const std::string& dim, std::int64_t periods);
// Differences of neighbours, n times. The coordinates are those of the later one, or of the earlier one.
enum class DiffLabel { Upper, Lower };
XVariable diff(const XOperand& x, const std::string& dim, std::int64_t n = 1, DiffLabel label = DiffLabel::Upper);
// Values between the positions whose coordinates are `at`, ascending numbers. `target` is a scalar, or labelled; the
// result has its dimensions in place of `dim`. nan outside of the coordinates. method: "linear" or "nearest".
// NotImplementedError for another one.
XVariable interp(const XOperand& x, const std::string& dim, const Variable& at, const XOperand& target,
                 const std::string& method = "linear");
// Between the dimension's own coordinates. ValueError for a dimension without; NotImplementedError unless they are
// distinct numbers.
XVariable interp(const XOperand& x, const std::string& dim, const XOperand& target,
                 const std::string& method = "linear");

// Outputs for inputs that have further dimensions: pairs of a variable and what replaces it, which has its dimensions
// and others. Outputs get these others in front. TypeError for another dtype.
XVariables vectorize_graph(const XVariables& outputs, const std::vector<std::pair<XVariable, XVariable>>& replacements);

}  // namespace bitale::xtensor
