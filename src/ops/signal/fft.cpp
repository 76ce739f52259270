// Discrete Fourier transforms along the last axis, of real numbers and of pairs of a real and an imaginary part;
// transforms over several axes are composed of them. They are not normalized, so each one is the transpose of another
// up to weights of elements, and derivatives are transforms as well.
#include "ops/signal/fft.hpp"

#include "bitale/ops/fft.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/runtime/functions.hpp"
#include "ops/analysis/dependencies.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"
#include "runtime/fft.hpp"

namespace bitale {

namespace {

// Common base of the three ops: leading dimensions are a batch, which one call transforms.
class FourierOp : public Op, public OwnError, public StatesDependencies, public EmitsTensors {
 public:
  std::string_view failure() const { return runtime::function_named(cat("bt_", runtime_name(), "_f64")).failure; }
  [[noreturn]] void raise() const override { throw OutOfMemoryError(std::string(failure())); }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    if (tangents[0].is_disconnected()) return {disconnected()};
    Variables inputs(node.inputs().begin(), node.inputs().end());
    inputs[0] = cast(tangents[0], node.output().dtype());
    return {make_node(inputs).output()};
  }
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return connect_first(node, 1); }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override {
    for (std::size_t i = 1; i < batched.size(); ++i)
      if (batched[i].ndim() > 0)
        throw NotImplementedError(
            cat(name(), ": the transforms of a batch must have one length, but the lengths differ"));
    (void)node;
    return make_node(batched);
  }
  std::optional<Array> dependencies(const Apply& node, int, InputDependencies& inputs) const override {
    return batch_dependencies(inputs, 1, std::size_t(node.input(0).ndim() - own_ndim()));
  }

 protected:
  virtual std::string runtime_name() const = 0;
  // The dimensions of the first input that one transform takes.
  virtual int own_ndim() const { return 2; }
  void check(std::int64_t status) const {
    if (status) raise();
  }
  // x converted to its float dtype. Throws a ShapeError for fewer than `least` dimensions.
  Variable float_input(const Variable& x, int least) const {
    if (x.ndim() < least)
      throw ShapeError(cat(name(), ": expected ", least == 1 ? "real numbers" : "pairs of real and imaginary parts",
                           " along an axis, got ", x.str(), " with ", x.ndim(), " dimensions"));
    return cast(x, matrix_dtype({&x, 1}));
  }
  void require_pairs(std::int64_t length) const {
    if (length != unknown_length && length != 2)
      throw ShapeError(
          cat(name(), ": expected a last dimension of length 2, real and imaginary part, got length ", length));
  }
  void require_elements(std::int64_t n) const {
    if (n != unknown_length && n < 1) throw ShapeError(cat(name(), ": a transform of length ", n, " does not exist"));
  }
  std::string runtime_function_of(const Apply& node) const {
    return cat("bt_", runtime_name(), node.output().dtype() == DType::Float32 ? "_f32" : "_f64");
  }
  void require_elements(Lowering& to, const Expr& n) const {
    to.require(to.pool().integer(0) < n, cat(name(), ": a transform of length 0 does not exist"));
  }
  void require_pairs(Lowering& to, const Expr& length) const {
    to.require(equal(length, to.pool().integer(2)),
               cat(name(), ": expected a last dimension of length 2, real and imaginary part"));
  }
};

// The product of the first `dims` lengths: how many transforms there are.
Expr transforms_in(Lowering& to, std::span<const Expr> lengths, std::size_t dims) {
  Expr out = to.pool().integer(1);
  for (std::size_t k = 0; k < dims; ++k) out = out * lengths[k];
  return out;
}
std::int64_t transforms_in(const Dims& shape, std::size_t dims) {
  return product(Dims(std::span(shape.begin(), dims)));
}

Variable half_and_one(const Variable& n) {
  return lengths::add(lengths::floor_div(n, int64_constant(2)), int64_constant(1));
}
// Weights [k, 1] of the elements of rfft of length n: `edge` where an element is its own conjugate partner (0, and
// n / 2 of an even n), otherwise `between`.
Variable by_partner(const Variable& n, double edge, double between, DType dtype) {
  const Variable k = arange(half_and_one(n));
  const Variable own = or_(eq(k, int64_constant(0)), eq(mul(k, int64_constant(2)), n));
  return expand_dims(switch_(own, cast(Operand(edge), dtype), cast(Operand(between), dtype)), 1);
}

// Multiplies by the length, since the inverse transforms of the target divide by it.
TensorValue not_normalized(TensorBuilder& builder, const TensorValue& x, std::int64_t length) {
  return builder.map(x.dtype, {x}, [length](std::span<const Expr> in) { return in[0] * double(length); });
}

class RFFT final : public FourierOp {
 public:
  std::string_view name() const override { return "RFFT"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 1);
    const Variable x = float_input(inputs[0], 1);
    Dims shape = x.static_shape();
    require_elements(shape.back());
    if (shape.back() != unknown_length) shape.back() = shape.back() / 2 + 1;
    shape.push_back(2);
    return Apply(OpRef(this), {x}, {tensor_type(x.dtype(), shape)});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override {
    Shape out = inputs[0];
    out.back() = half_and_one(out.back());
    out.push_back(int64_constant(2));
    return {out};
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array x = in[0].contiguous();
    Dims shape = x.shape();
    const std::int64_t n = shape.back();
    require_elements(n);
    shape.back() = n / 2 + 1;
    shape.push_back(2);
    out[0] = Array::empty(x.dtype(), shape);
    with_float(x.dtype(), [&]<class T>(T) {
      check(runtime::rfft<T>(transforms_in(shape, shape.size() - 2), n, x.data_as<T>(), out[0].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const auto lengths = to.shape_in(0);
    require_elements(to, lengths.back());
    to.call(runtime_function_of(node),
            {transforms_in(to, lengths, lengths.size() - 1), lengths.back(), InputData{0}, OutputData{0}});
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const TensorValue x = to.in(0);
    require_elements(x.lengths.back());
    to.out(0, to.builder().fft(x, FourierTransform::real_forward, x.lengths.back()));
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;

 private:
  std::string runtime_name() const override { return "rfft"; }
  int own_ndim() const override { return 1; }
};

class IRFFT final : public FourierOp {
 public:
  std::string_view name() const override { return "IRFFT"; }

  // Inputs: z[..., n / 2 + 1, 2] and n.
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 2);
    const Variable z = float_input(inputs[0], 2), n = as_length(inputs[1], name());
    Dims shape = z.static_shape();
    require_pairs(shape.back());
    shape.erase(shape.size() - 1);
    const std::int64_t length = static_length(n), given = shape.back();
    require_elements(length);
    if (length != unknown_length && given != unknown_length) require_length(length, given);
    shape.back() = length;
    return Apply(OpRef(this), {z, n}, {tensor_type(z.dtype(), shape)});
  }
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override {
    Shape out = inputs[0];
    out.pop_back();
    out.back() = node.input(1);
    return {out};
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array z = in[0].contiguous();
    Dims shape = z.shape();
    require_pairs(shape.back());
    shape.erase(shape.size() - 1);
    const std::int64_t n = in[1].int_item();
    require_elements(n);
    require_length(n, shape.back());
    shape.back() = n;
    out[0] = Array::empty(z.dtype(), shape);
    with_float(z.dtype(), [&]<class T>(T) {
      check(runtime::irfft<T>(transforms_in(shape, shape.size() - 1), n, z.data_as<T>(), out[0].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const auto lengths = to.shape_in(0);
    const std::size_t batch = lengths.size() - 2;
    const Expr n = to.shape_out(0)[batch];
    require_pairs(to, lengths[batch + 1]);
    require_elements(to, n);
    to.require(equal(lengths[batch], n / 2 + 1), "IRFFT: the inverse of length n has n / 2 + 1 elements");
    to.call(runtime_function_of(node), {transforms_in(to, lengths, batch), n, InputData{0}, OutputData{0}});
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const TensorValue z = to.in(0);
    const std::int64_t n = to.need_integer(1, "the length");
    require_pairs(z.lengths.back());
    require_elements(n);
    require_length(n, z.lengths[z.lengths.size() - 2]);
    to.out(0, not_normalized(to.builder(), to.builder().fft(z, FourierTransform::real_backward, n), n));
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable weights = by_partner(node.input(1), 1, 2, node.output().dtype());
    const Variable of_z = mul((*make_ref<RFFT>())({cotangents[0]}), weights);
    return {with_static_shape_of(node.input(0), of_z), disconnected()};
  }

 private:
  std::string runtime_name() const override { return "irfft"; }
  static void require_length(std::int64_t n, std::int64_t given) {
    if (given != n / 2 + 1)
      throw ShapeError(cat("IRFFT: the inverse of length ", n, " needs ", n / 2 + 1, " elements, got ", given));
  }
};

Variables RFFT::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  if (cotangents[0].is_disconnected()) return no_gradients(node);
  const Variable x = node.input(0), n = length_of(x, x.ndim() - 1);
  const Variable weighted = mul(cotangents[0], by_partner(n, 1, 0.5, x.dtype()));
  return {with_static_shape_of(x, (*make_ref<IRFFT>())({weighted, n}))};
}

class FFT final : public FourierOp {
 public:
  explicit FFT(bool inverse) : inverse(inverse) {}
  bool inverse;
  static constexpr auto fields = attribute_list(attribute("inverse", &FFT::inverse));
  std::string_view name() const override { return "FFT"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 1);
    const Variable z = float_input(inputs[0], 2);
    const Dims& shape = z.static_shape();
    require_pairs(shape.back());
    require_elements(shape[shape.size() - 2]);
    return Apply(OpRef(this), {z}, {tensor_type(z.dtype(), shape)});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array z = in[0].contiguous();
    const Dims& shape = z.shape();
    const std::size_t batch = shape.size() - 2;
    require_pairs(shape.back());
    require_elements(shape[batch]);
    out[0] = Array::empty(z.dtype(), shape);
    with_float(z.dtype(), [&]<class T>(T) {
      check(runtime::fft<T>(transforms_in(shape, batch), shape[batch], inverse, z.data_as<T>(),
                            out[0].mutable_data_as<T>()));
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const auto lengths = to.shape_in(0);
    const std::size_t batch = lengths.size() - 2;
    require_pairs(to, lengths[batch + 1]);
    require_elements(to, lengths[batch]);
    to.call(runtime_function_of(node), {transforms_in(to, lengths, batch), lengths[batch], to.pool().integer(inverse),
                                        InputData{0}, OutputData{0}});
    return true;
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const TensorValue z = to.in(0);
    const std::int64_t n = z.lengths[z.lengths.size() - 2];
    require_pairs(z.lengths.back());
    require_elements(n);
    const TensorValue y =
        to.builder().fft(z, inverse ? FourierTransform::complex_backward : FourierTransform::complex_forward, n);
    to.out(0, inverse ? not_normalized(to.builder(), y, n) : y);
  }
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    return {with_static_shape_of(node.input(0), (*make_ref<FFT>(!inverse))({cotangents[0]}))};
  }

 private:
  std::string runtime_name() const override { return "fft"; }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> rfft_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<RFFT>()->make_node(x), {sample_values(dtype, shape)}});
  };
  for (const std::int64_t n : {1, 2, 5, 6}) add(DType::Float64, {any}, {n});
  add(DType::Float64, {any, any}, {3, 8});
  add(DType::Float64, {any, 7}, {2, 7});
  add(DType::Float64, {any, any}, {0, 3});
  add(DType::Float32, {any, any}, {2, 12});
  add(DType::Int64, {any}, {4});
  return out;
}

std::vector<Sample> irfft_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, Dims shape, std::int64_t n) {
    const Variable inputs[] = {sample_input(dtype, type, "z"), sample_input(DType::Int64, {}, "n")};
    shape.push_back(n / 2 + 1);
    shape.push_back(2);
    out.push_back({make_ref<IRFFT>()->make_node(inputs), {sample_values(dtype, shape), Array(n)}});
  };
  for (const std::int64_t n : {1, 2, 5, 6}) add(DType::Float64, {any, 2}, {}, n);
  add(DType::Float64, {any, any, any}, {3}, 8);
  add(DType::Float64, {any, 4, 2}, {2}, 7);
  add(DType::Float32, {any, any, any}, {2}, 12);
  return out;
}

std::vector<Sample> fft_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape, bool inverse) {
    const Variable z[] = {sample_input(dtype, type, "z")};
    out.push_back({make_ref<FFT>(inverse)->make_node(z), {sample_values(dtype, shape)}});
  };
  for (const bool inverse : {false, true}) {
    add(DType::Float64, {any, 2}, {5, 2}, inverse);
    add(DType::Float64, {any, any, any}, {2, 6, 2}, inverse);
    add(DType::Float32, {any, any, 2}, {2, 4, 2}, inverse);
  }
  return out;
}

BITALE_REGISTER_OP(
    RFFT, "The Fourier transform of real numbers along the last axis, as pairs of a real and an imaginary part.",
    rfft_samples);
BITALE_REGISTER_OP(IRFFT, "The inverse of RFFT but for a factor n, given n.", irfft_samples);
BITALE_REGISTER_OP(FFT,
                   "The Fourier transform of pairs of a real and an imaginary part along the axis before the last.",
                   fft_samples);

// The transform of pairs z[m, ..., n, k, 2] over all axes but the first and the last two.
Variable transform_between(Variable z, bool inverse) {
  const int ndim = z.ndim();
  for (int axis = 1; axis < ndim - 2; ++axis) {
    std::vector<int> order;
    for (int k = 0; k < ndim; ++k) order.push_back(k);
    std::swap(order[std::size_t(axis)], order[std::size_t(ndim - 2)]);
    z = dimshuffle((*make_ref<FFT>(inverse))({dimshuffle(z, order)}), order);
  }
  return z;
}

Variable divided(const Variable& x, const Variable& by) { return true_div(x, cast(by, x.dtype())); }
// The number of elements of x[m, ..., n] that one transform covers.
Variable transformed_count(const Variable& x) {
  const Shape all = lengths_of(x);
  return lengths::product(std::span(all).subspan(1));
}

}  // namespace

Variable transform_of_pairs(const Variable& z, bool inverse) { return (*make_ref<FFT>(inverse))({z}); }
Variable transform_of_reals(const Variable& x) { return (*make_ref<RFFT>())({x}); }
Variable reals_of_transform(const Variable& z, const Variable& n) { return (*make_ref<IRFFT>())({z, n}); }

Variable rfft(const Operand& x, FourierNorm norm) {
  const LocationScope here(x.where);
  if (x.ndim() < 2)
    throw ShapeError(cat("rfft: expected a batch of real numbers [m, ..., n], got ", x.variable.str(), " with ",
                         x.ndim(), " dimensions; expand_dims(x, 0) is a batch of one"));
  const Variable out = transform_between((*make_ref<RFFT>())({x.variable}), false);
  if (norm != FourierNorm::Ortho) return out;
  return divided(out, sqrt(cast(transformed_count(x.variable), DType::Float64)));
}

Variable irfft(const Operand& z, const InverseOptions& options) {
  const LocationScope here(z.where);
  if (z.ndim() < 3)
    throw ShapeError(cat("irfft: expected a batch of pairs [m, ..., k, 2], got ", z.variable.str(), " with ", z.ndim(),
                         " dimensions; expand_dims(z, 0) is a batch of one"));
  const Variable doubled =
      lengths::mul(lengths::sub(length_of(z.variable, z.ndim() - 2), int64_constant(1)), int64_constant(2));
  const Variable n = options.is_odd ? lengths::add(doubled, int64_constant(1)) : doubled;
  const Variable out = (*make_ref<IRFFT>())({transform_between(z.variable, true), n});
  if (options.norm == FourierNorm::None) return out;
  const Variable count = cast(transformed_count(out), DType::Float64);
  return divided(out, options.norm == FourierNorm::Ortho ? sqrt(count) : count);
}

}  // namespace bitale
