// Indexing of labelled tensors by xarray's rules: an integer drops its dimension, a slice keeps it, and an array
// gathers. An array without names is one along the dimension that it indexes, so that several select rows and columns
// (outer); labelled ones are aligned by their own dimensions, so that those with a common one select points.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bitale/xtensor/variable.hpp"

namespace bitale::xtensor {

// What indexes a dimension: an integer, a scalar or labelled integers, a labelled mask of one dimension, or a slice.
class Index : public std::variant<XVariable, Slice> {
 public:
  using variant::variant;
  Index(int position) : variant(XVariable(Operand::number(std::int64_t(position)), {})) {}
  Index(std::int64_t position) : variant(XVariable(Operand::number(position), {})) {}
};
// A vector without names, as an index of this dimension.
Index index_along(const Dim& dim, const Operand& vector);

struct Selection {
  XVariable base;
  std::vector<int> order;         // base's axes: those that arrays index, then the others
  std::vector<IndexItem> items;   // for the axes in that order
  DimList selected;               // the dimensions of the result, as the items give them
  std::vector<int> result_order;  // and the order that they get
};

// The elements at these positions along the named dimensions. Coordinates are kept where the positions are constants.
// ValueError for a name that is not there (unless those are ignored) or repeated; IndexError for indices that
// are neither integers nor bools, masks of several dimensions, and positions that are known to be out of range.
enum class MissingDims { Raise, Ignore };
XVariable isel(const XOperand& x, const std::vector<std::pair<std::string, Index>>& indices,
               MissingDims missing = MissingDims::Raise);

// The first or last positions along the named dimensions, or every n-th one. By default 5 along each dimension.
// ValueError for a negative number, a step that is not positive, and names that are not there.
using Counts = std::vector<std::pair<std::string, Operand>>;
XVariable head(const XOperand& x, const std::optional<Counts>& counts = {});
XVariable tail(const XOperand& x, const std::optional<Counts>& counts = {});
XVariable thin(const XOperand& x, const Counts& steps);

// A copy of x in which the elements of x.isel(...) are `value`, or have it added; repeated positions add up. `value`
// is aligned with the selected elements by names. TypeError for a tensor that isel did not make.
XVariable set(const XVariable& selected, const XOperand& value);
XVariable inc(const XVariable& selected, const XOperand& value);

}  // namespace bitale::xtensor
