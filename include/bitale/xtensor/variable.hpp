// XVariable: a tensor whose dimensions have names. It is a value of an ordinary Variable and its dimensions: functions
// of labelled tensors find axes by names while an expression is built, so the graph has tensors only, and everything
// that reads graphs (derivatives, rewriting, compiling) does not know of labels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/ops/ops.hpp"
#include "bitale/xtensor/dim.hpp"

namespace bitale::xtensor {

class XVariable;

// How x[...] was written, so that its elements can be replaced: `items` index `base` with its axes in `order`, and give
// the axes `selected`, which are then brought into `result_order`.
struct Selection;

class XVariable {
 public:
  // One dimension for each axis of the tensor. ValueError for a repeated name or another number of dimensions;
  // ShapeError where a length is known to differ from that of the dimension. A length that is not known statically is
  // taken from the dimension, and checked when a function is called.
  XVariable(const Operand& values, DimList dims);

  const Variable& values() const { return values_; }
  const DimList& dims() const { return dims_; }
  int ndim() const { return int(dims_.size()); }
  DType dtype() const { return values_.dtype(); }
  const std::string& name() const { return values_.name(); }
  std::vector<std::string> names() const;

  // The axis of a dimension; -1 where there is none of that name.
  int find(std::string_view name) const;
  // ValueError with a suggestion, for `who`, where there is none.
  int axis(std::string_view name, std::string_view who) const;
  // The axes of these names, in that order; all for none. ValueError for a name that is repeated or not there.
  std::vector<int> axes(const Names& names, std::string_view who) const;
  std::int64_t static_length(int axis) const { return values_.static_shape()[std::size_t(axis)]; }
  Variable length(std::string_view name) const;  // int64 scalar; a constant where it is known

  // Another tensor of the same dimensions.
  XVariable with_values(const Operand& values) const { return XVariable(values, dims_); }
  std::string str() const;  // "x: float64[country: 5, year: ?]"

  const std::shared_ptr<const Selection>& selection() const { return selection_; }
  XVariable selected_by(std::shared_ptr<const Selection> selection) const;

 private:
  Variable values_;
  DimList dims_;
  std::shared_ptr<const Selection> selection_;
};
using XVariables = std::vector<XVariable>;

// An argument of the functions: a labelled tensor, or a scalar, with the caller's line. TypeError for a tensor with
// dimensions that have no names.
class XOperand {
 public:
  using Source = std::source_location;
  XOperand(const XVariable& given_variable, Source given_where = Source::current())
      : variable(given_variable), where(given_where) {}
  XOperand(const Variable& scalar, Source where = Source::current());
  template <Element T>
  XOperand(T value, Source given_where = Source::current())
      : variable(Operand::number(value), {}), where(given_where) {}

  XVariable variable;
  Location where;
};
using XOperands = std::vector<XOperand>;

// A new leaf: an input of functions. Lengths are those of the dimensions where they have one. dtype: config.floatX when
// not given.
XVariable xtensor(std::string name, const DimList& dims, std::optional<DType> dtype = {});

}  // namespace bitale::xtensor
