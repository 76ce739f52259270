#include "bitale/xtensor/variable.hpp"

#include <algorithm>
#include <numeric>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::xtensor {

namespace {

void require_different_names(const DimList& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (dims[i].name() == dims[j].name())
        throw ValueError(cat("xtensor: dimension \"", dims[i].name(),
                             "\" is given twice; the names of a tensor's "
                             "dimensions differ"));
}

// The tensor with the lengths that its dimensions have.
Variable with_lengths(const Operand& values, const DimList& dims) {
  std::vector<std::optional<Operand>> lengths(dims.size());
  bool adds = false;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const std::int64_t known = values.variable.static_shape()[k];
    const auto wanted = dims[k].length();
    if (!wanted) continue;
    if (known != unknown_length && known != *wanted)
      throw ShapeError(cat("xtensor: dimension \"", dims[k].name(), "\" has ",
                           dims[k].coordinates() ? "coordinates for " : "length ", *wanted,
                           dims[k].coordinates() ? " positions, but length " : ", but the tensor ",
                           dims[k].coordinates() ? "" : "has length ", known, " along axis ", k));
    if (known != unknown_length) continue;
    lengths[k] = Operand(*wanted);
    adds = true;
  }
  return adds ? specify_shape(values.variable, lengths) : values.variable;
}

}  // namespace

XVariable::XVariable(const Operand& values, DimList dims) {
  const LocationScope here(values.where);
  if (values.ndim() != int(dims.size())) {
    std::vector<std::string> names;
    for (const Dim& dim : dims) names.push_back(dim.name());
    throw ValueError(cat("xtensor: expected a name for each dimension of ", values.variable.str(), ", which has ",
                         values.ndim(), ", got ", names_text(names)));
  }
  require_different_names(dims);
  values_ = with_lengths(values, dims);
  dims_ = std::move(dims);
}

std::vector<std::string> XVariable::names() const {
  std::vector<std::string> out;
  out.reserve(dims_.size());
  for (const Dim& dim : dims_) out.push_back(dim.name());
  return out;
}

int XVariable::find(std::string_view name) const {
  for (std::size_t k = 0; k < dims_.size(); ++k)
    if (dims_[k].name() == name) return int(k);
  return -1;
}

int XVariable::axis(std::string_view name, std::string_view who) const {
  const int found = find(name);
  if (found >= 0) return found;
  const auto mine = names();
  throw ValueError(cat(who, ": no dimension is called \"", name, "\"; those of ", values_.str(), " are ",
                       names_text(mine), suggestion(name, mine)));
}

std::vector<int> XVariable::axes(const Names& names, std::string_view who) const {
  std::vector<int> out;
  if (!names) {
    out.resize(dims_.size());
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  for (const auto& name : *names) {
    const int found = axis(name, who);
    if (std::ranges::find(out, found) != out.end())
      throw ValueError(cat(who, ": dimension \"", name, "\" is given twice"));
    out.push_back(found);
  }
  return out;
}

Variable XVariable::length(std::string_view name) const { return length_of(values_, axis(name, "length")); }

std::string XVariable::str() const {
  std::vector<std::string> parts;
  for (int k = 0; k < ndim(); ++k) {
    const std::int64_t length = static_length(k);
    parts.push_back(cat(dims_[std::size_t(k)].name(), ": ", length == unknown_length ? "?" : cat(length)));
  }
  return cat(values_.str(), ": ", dtype_name(dtype()), '[', join(parts, ", "), ']');
}

XVariable XVariable::selected_by(std::shared_ptr<const Selection> selection) const {
  XVariable out = *this;
  out.selection_ = std::move(selection);
  return out;
}

XOperand::XOperand(const Variable& scalar, Source where)
    : variable(
          [&]() -> Operand {
            const LocationScope here{Location(where)};
            if (scalar.ndim() != 0)
              throw TypeError(
                  cat("xtensor: expected a labelled tensor or a scalar, got ", scalar.str(), " with ", scalar.ndim(),
                      " dimensions that have no names: give them, as in as_xtensor(x, dims=(", "\"row\", ...))"));
            return Operand(scalar, where);
          }(),
          {}),
      where(where) {}

XVariable xtensor(std::string name, const DimList& dims, std::optional<DType> dtype) {
  Dims lengths;
  for (const Dim& dim : dims) lengths.push_back(dim.length().value_or(unknown_length));
  return XVariable(tensor(std::move(name), dtype.value_or(config::float_x()), lengths), dims);
}

}  // namespace bitale::xtensor
