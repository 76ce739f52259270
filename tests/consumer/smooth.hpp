// An op with native code: a runtime function, its row in the table of functions that compiled code calls, and the op
// that calls it. It needs only installed headers. docs/extending.md quotes parts of this file verbatim.
#pragma once

#include <bitale/bitale.hpp>
#include <bitale/ops/lowering.hpp>
#include <bitale/runtime/functions.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace bitale;

namespace {

void smooth_f64(std::int64_t n, std::int64_t times, double* x, double* before) {
  for (std::int64_t t = 0; t < times; ++t) {
    std::copy(x, x + n, before);
    for (std::int64_t i = 1; i + 1 < n; ++i) x[i] = (before[i - 1] + 2 * before[i] + before[i + 1]) / 4;
  }
}

runtime::RuntimeFunction smooth_row() {
  auto row = runtime::runtime_function("own_smooth_f64", smooth_f64, "n times inout:x scratch:before");
  row.flops = {4, {"n", "times"}};
  return row;
}
const runtime::RegisterFunctions smooth_functions{smooth_row()};

// Each element becomes the mean of itself, twice, and its neighbours, so many times; the ends stay.
class Smooth final : public OpOf<Smooth> {
 public:
  explicit Smooth(std::int64_t times) : times(times) {}
  std::int64_t times;
  static constexpr auto fields = attribute_list(attribute("times", &Smooth::times));
  std::string_view name() const override { return "Smooth"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    const Variable& x = inputs[0];
    if (x.dtype() != DType::Float64 || x.ndim() != 1)
      throw TypeError("Smooth: expected a vector of float64, got " + x.str());
    return Apply(OpRef(this), {x}, {x.type()});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    out[0] = in[0].copy();
    std::vector<double> before(std::size_t(out[0].size()));
    smooth_f64(out[0].size(), times, out[0].mutable_data_as<double>(), before.data());
  }
  bool emit(Lowering& to, const Apply&) const override {
    const Expr n = to.shape_in(0)[0];
    to.call("own_smooth_f64", {n, to.pool().integer(times), OutputData{0, {}, 0}, Scratch{DType::Float64, n}});
    return true;
  }
  // A linear map of a vector to itself: the derivative along a direction is the map of the direction.
  Variables pushforward(const Apply&, std::span<const Variable> tangents) const override {
    return {(*this)({tangents[0]})};
  }
  bool has_pushforward() const override { return true; }
};

Variable smooth(const Variable& x, std::int64_t times) { return (*make_ref<Smooth>(times))({x}); }

}  // namespace
