// Linker `dual` runs two linkers in step, node by node, until the results of a node differ.
#include <algorithm>
#include <cmath>

#include "bitale/core/text.hpp"
#include "graph/evaluate.hpp"
#include "link/linker.hpp"

namespace bitale::link {

namespace {

// The largest finite magnitude of all floats in the values.
double magnitude(std::span<const Array> values) {
  double largest = 0;
  for (auto& value : values) {
    if (is_discrete(value.dtype())) continue;
    if (!value.defined()) continue;  // of a side not taken
    const Array wide = (is_complex(value.dtype()) ? value.as_pairs() : value).astype(DType::Float64).contiguous();
    for (std::int64_t i = 0; i < wide.size(); ++i)
      if (const double each = std::abs(wide.data_as<double>()[i]); std::isfinite(each))
        largest = std::max(largest, each);
  }
  return largest;
}

bool agree_by_default(const NodeStep& step, const Array& first, const Array& second) {
  if (is_discrete(first.dtype())) return identical(first.contiguous(), second.contiguous());
  const DType dtype = component_dtype(first.dtype());
  const double tolerance = is_storage_format(dtype) ? 1e-2 : dtype == DType::Float32 ? 1e-4 : 1e-9;
  return allclose(second, first, tolerance, tolerance * magnitude(step.inputs));
}

[[noreturn]] void fail(const NodeStep& step, std::size_t output) {
  const Array &first = step.outputs(0)[output], &second = step.outputs(1)[output];
  DualLinkerError error(cat("two linkers give different values for output ", output, " of a node"));
  error.add("first", first.str());
  error.add("second", second.str());
  for (std::size_t i = 0; i < step.inputs.size(); ++i) error.add(cat("input ", i), step.inputs[i].str());
  add_node_context(error, step.node, step.inputs);
  throw error;
}

struct Comparison {
  ValuesAgree agree;
  void operator()(NodeStep& step) const {
    step.run(1);
    step.run(0);
    for (std::size_t k = 0; k < step.outputs(0).size(); ++k) {
      const Array &first = step.outputs(0)[k], &second = step.outputs(1)[k];
      const bool same_form = first.dtype() == second.dtype() && first.shape() == second.shape();
      if (!same_form || !(agree ? agree(first, second) : agree_by_default(step, first, second))) fail(step, k);
    }
  }
};

}  // namespace

NodeWrapper compare_linkers(ValuesAgree agree) { return Comparison{std::move(agree)}; }

}  // namespace bitale::link

namespace bitale {

const ValuesAgree* agreement_of(const Linker& linker) {
  const auto* comparison = linker.wrapper.target<link::Comparison>();
  return comparison ? &comparison->agree : nullptr;
}

}  // namespace bitale
