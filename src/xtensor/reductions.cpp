// Reductions over named dimensions, functions along them, and products that sum over them.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/contraction.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/xtensor/functions.hpp"
#include "xtensor/labelled_function.hpp"

namespace bitale::xtensor {

namespace {

DimList without(const XVariable& x, std::span<const int> axes) {
  DimList out;
  for (int k = 0; k < x.ndim(); ++k)
    if (std::ranges::find(axes, k) == axes.end()) out.push_back(x.dims()[std::size_t(k)]);
  return out;
}

template <class Function>
XVariable reduced(const char* who, const XOperand& x, const Names& dim, Function function) {
  const LocationScope here(x.where);
  const std::vector<int> axes = x.variable.axes(dim, who);
  return XVariable(function(x.variable.values(), axes), without(x.variable, axes));
}

template <class Function>
XVariable along(const char* who, const XOperand& x, const Names& dim, Function function) {
  const LocationScope here(x.where);
  return x.variable.with_values(function(x.variable.values(), x.variable.axes(dim, who)));
}

}  // namespace

#define X(name)                                                                                                      \
  XVariable name(const XOperand& x, const Names& dim) {                                                              \
    return reduced(#name, x, dim,                                                                                    \
                   [](const Variable& values, const std::vector<int>& axes) { return bitale::name(values, axes); }); \
  }
BITALE_LABELLED_REDUCTIONS(X)
#undef X
LABELLED_METHOD("sum", sum, "x, dim=None", "Sum over dimensions, by default over all.");
LABELLED_METHOD("prod", prod, "x, dim=None", "Product over dimensions, by default over all.");
LABELLED_METHOD("max", max, "x, dim=None", "Largest element over dimensions, by default over all.");
LABELLED_METHOD("min", min, "x, dim=None", "Smallest element over dimensions, by default over all.");
LABELLED_METHOD("all", all, "x, dim=None", "Whether all elements over dimensions are true.");
LABELLED_METHOD("any", any, "x, dim=None", "Whether any element over dimensions is true.");
LABELLED_METHOD("mean", mean, "x, dim=None", "Mean over dimensions, by default over all.");
LABELLED_METHOD("logsumexp", logsumexp, "x, dim=None", "Logarithm of the sum of exponentials over dimensions.");

LABELLED_METHOD("var", var, "x, dim=None, ddof=0", "Variance over dimensions, by default over all.");
XVariable var(const XOperand& x, const Names& dim, int ddof) {
  return reduced("var", x, dim,
                 [ddof](const Variable& v, const std::vector<int>& axes) { return bitale::var(v, axes, ddof); });
}
LABELLED_METHOD("std", std_, "x, dim=None, ddof=0", "Standard deviation over dimensions, by default over all.");
XVariable std_(const XOperand& x, const Names& dim, int ddof) {
  return reduced("std", x, dim,
                 [ddof](const Variable& v, const std::vector<int>& axes) { return bitale::std_(v, axes, ddof); });
}
LABELLED_METHOD("count", count, "x, dim=None", "Number of elements over dimensions that are not nan.");
XVariable count(const XOperand& x, const Names& dim) {
  return reduced("count", x, dim, [](const Variable& v, const std::vector<int>& axes) {
    return bitale::sum(bitale::cast(bitale::logical_not(bitale::isnan(v)), DType::Int64), axes);
  });
}
LABELLED_METHOD("argmax", argmax, "x, dim", "Position of the largest element along a dimension.");
XVariable argmax(const XOperand& x, const Dim& dim) {
  return reduced("argmax", x, dim,
                 [](const Variable& v, const std::vector<int>& axes) { return bitale::argmax(v, axes[0]); });
}
LABELLED_METHOD("argmin", argmin, "x, dim", "Position of the smallest element along a dimension.");
XVariable argmin(const XOperand& x, const Dim& dim) {
  return reduced("argmin", x, dim,
                 [](const Variable& v, const std::vector<int>& axes) { return bitale::argmin(v, axes[0]); });
}

LABELLED_METHOD("cumsum", cumsum, "x, dim=None",
                "Sums of the elements up to each, along dimensions one after the other.");
XVariable cumsum(const XOperand& x, const Names& dim) {
  return along("cumsum", x, dim, [](Variable v, const std::vector<int>& axes) {
    for (const int axis : axes) v = bitale::cumsum(v, axis);
    return v;
  });
}
LABELLED_METHOD("cumprod", cumprod, "x, dim=None",
                "Products of the elements up to each, along dimensions one after the other.");
XVariable cumprod(const XOperand& x, const Names& dim) {
  return along("cumprod", x, dim, [](Variable v, const std::vector<int>& axes) {
    for (const int axis : axes) v = bitale::cumprod(v, axis);
    return v;
  });
}
LABELLED_METHOD("softmax", softmax, "x, dim=None", "Exponentials divided by their sum over dimensions.");
XVariable softmax(const XOperand& x, const Names& dim) {
  return along("softmax", x, dim,
               [](const Variable& v, const std::vector<int>& axes) { return bitale::softmax(v, axes); });
}
LABELLED_METHOD("log_softmax", log_softmax, "x, dim=None", "Logarithm of `softmax`.");
XVariable log_softmax(const XOperand& x, const Names& dim) {
  return along("log_softmax", x, dim,
               [](const Variable& v, const std::vector<int>& axes) { return bitale::log_softmax(v, axes); });
}

XVariable dot(const XOperand& x, const XOperand& y, const Names& dim) {
  const LocationScope here(x.where);
  const XVariable both[] = {x.variable, y.variable};
  const Aligned aligned = align("dot", both);  // checks lengths and coordinates
  std::vector<std::string> all;
  for (const Dim& each : aligned.dims) all.push_back(each.name());
  std::vector<std::string> summed;
  if (dim) {
    summed = *dim;
    for (const auto& name : summed)
      if (std::ranges::find(all, name) == all.end())
        throw ValueError(cat("dot: no dimension is called \"", name, "\"; those of both operands are ", names_text(all),
                             suggestion(name, all)));
  } else {
    for (const auto& name : all)
      if (x.variable.find(name) >= 0 && y.variable.find(name) >= 0) summed.push_back(name);
  }
  constexpr std::size_t letters = 52;
  if (all.size() > letters) throw NotImplementedError(cat("dot: more than ", letters, " dimensions"));
  const auto letter = [&](std::string_view name) {
    const auto at = std::size_t(std::ranges::find(all, name) - all.begin());
    return char(at < 26 ? 'a' + at : 'A' + (at - 26));
  };
  std::string subscripts;
  for (const XVariable& operand : both) {
    if (&operand != both) subscripts += ',';
    for (const Dim& each : operand.dims()) subscripts += letter(each.name());
  }
  subscripts += "->";
  DimList kept;
  for (const Dim& each : aligned.dims)
    if (std::ranges::find(summed, each.name()) == summed.end()) {
      kept.push_back(each);
      subscripts += letter(each.name());
    }
  return XVariable(einsum(subscripts, {with_common_lengths(both[0], aligned), with_common_lengths(both[1], aligned)}),
                   std::move(kept));
}

}  // namespace bitale::xtensor
