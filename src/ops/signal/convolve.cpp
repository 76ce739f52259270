// Convolutions, as sums over the elements of the second operand. One op computes any contiguous part of the sums, so
// that its derivatives are parts of other convolutions.
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/ops/signal.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/array_loops.hpp"
#include "ops/complex/complex.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

namespace {

// out[i] = sum over j of x[start + i - j] y[j], where x is 0 outside its bounds. x and y have batch dimensions before
// their last `dims` dimensions. Inputs: x, y, a start per dimension, a length of the output per dimension.
class Convolve final : public Op, public EmitsTensors {
 public:
  explicit Convolve(int dims) : dims(dims) {
    if (dims != 1 && dims != 2) throw ValueError(cat("Convolve: expected 1 or 2 dimensions, got ", dims));
  }
  int dims;
  static constexpr auto fields = attribute_list(attribute("dims", &Convolve::dims));
  std::string_view name() const override { return "Convolve"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, std::size_t(2 + 2 * dims));
    const DType common = promote(inputs[0].dtype(), inputs[1].dtype());
    const DType dtype = common == DType::Bool ? DType::Int64 : computing_dtype(common);
    for (const int i : {0, 1})
      if (inputs[std::size_t(i)].ndim() < dims)
        throw ShapeError(cat(who(), ": expected ", dims, " dimensions or more, got ", inputs[std::size_t(i)].str(),
                             " with ", inputs[std::size_t(i)].ndim()));
    Variables own = pad_ranks(inputs.first(2));
    for (auto& each : own) each = cast(each, dtype);
    Dims shape;
    for (std::size_t axis = 0; axis < batch_of(own[0]); ++axis) {
      const std::int64_t a = own[0].static_shape()[axis], b = own[1].static_shape()[axis];
      shape.push_back(a == 1 ? b : b == 1 ? a : common_length(a, b, int(axis), who()));
    }
    for (std::size_t k = 2; k < inputs.size(); ++k) own.push_back(as_length(inputs[k], who()));
    for (int k = 0; k < dims; ++k) shape.push_back(static_length(own[std::size_t(2 + dims + k)]));
    return Apply(OpRef(this), own, {tensor_type(dtype, shape)});
  }
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override {
    Shape out;
    for (std::size_t axis = 0; axis < batch_of(node.input(0)); ++axis)
      out.push_back(inputs[is_repeated(node, 0, axis) ? 1 : 0][axis]);
    for (int k = 0; k < dims; ++k) out.push_back(node.input(2 + dims + k));
    return {out};
  }

  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    const Array x = in[0].contiguous(), y = in[1].contiguous();
    const std::size_t batch = batch_of(node.input(0));
    Dims shape;
    for (std::size_t axis = 0; axis < batch; ++axis) {
      const std::int64_t a = x.shape()[axis], b = y.shape()[axis];
      if (a != b && !is_repeated(node, 0, axis) && !is_repeated(node, 1, axis))
        throw ShapeError(cat(who(), ": batches of ", a, " and ", b, " don't broadcast"));
      shape.push_back(is_repeated(node, 0, axis) ? b : a);
    }
    // A convolution of vectors is a convolution of matrices with one row.
    Plane sizes_x, sizes_y, sizes, start;
    for (int k = 0; k < dims; ++k) {
      const std::size_t at = std::size_t(2 - dims + k), axis = batch + std::size_t(k);
      sizes_x.of[at] = x.shape()[axis];
      sizes_y.of[at] = y.shape()[axis];
      start.of[at] = in[std::size_t(2 + k)].int_item();
      shape.push_back(sizes.of[at] = in[std::size_t(2 + dims + k)].int_item());
      require_sums(sizes.of[at]);
    }
    if (dims == 1) start.of[0] = 0;
    out[0] = Array::zeros(x.dtype(), shape);
    const std::int64_t count = product(Dims(std::span(shape.begin(), batch)));
    visit_dtype(x.dtype(), [&]<class T>() {
      if constexpr (std::is_same_v<T, bool> || is_half<T> || is_complex_type<T>) {
        throw InternalError("Convolve: bools and float16 are cast, complex numbers are computed by parts");
      } else {
        for (std::int64_t i = 0; i < count; ++i)
          convolve_plane(x.data_as<T>() + matrix_index(node, 0, x.shape(), shape, batch, i) * sizes_x.count(), sizes_x,
                         y.data_as<T>() + matrix_index(node, 1, y.shape(), shape, batch, i) * sizes_y.count(), sizes_y,
                         start, sizes, out[0].mutable_data_as<T>() + i * sizes.count());
      }
    });
  }

  // It is linear in both operands.
  ComplexForm complex_form() const override { return ComplexForm::formula; }
  PartsOfOutputs complex_parts(const Apply&, std::span<const ComplexParts> inputs) const override {
    const auto of = [&](const Variable& x, const Variable& y) -> Variable {
      if (!x.defined() || !y.defined()) return {};
      Variables own{x, y};
      for (auto& offset : inputs.subspan(2)) own.push_back(offset.real);
      return (*this)(own);
    };
    const auto sum = [](const Variable& a, const Variable& b, auto&& both) {
      return !b.defined() ? a : !a.defined() ? b : both(a, b);
    };
    const auto &x = inputs[0], &y = inputs[1];
    const Variable squares = of(x.imag, y.imag);
    const Variable re = squares.defined() ? sub(of(x.real, y.real), squares) : of(x.real, y.real);
    return {{{re, sum(of(x.real, y.imag), of(x.imag, y.real), [](auto& a, auto& b) { return add(a, b); })}}};
  }

  bool emit(Lowering& to, const Apply& node) const override {
    const std::size_t batch = batch_of(node.input(0));
    const auto x = to.shape_in(0), y = to.shape_in(1), all = to.shape_out(0);
    const Expr zero = to.pool().integer(0);
    for (std::size_t axis = 0; axis < batch; ++axis)
      if (!is_repeated(node, 0, axis) && !is_repeated(node, 1, axis))
        to.require(equal(x[axis], y[axis]), cat(who(), ": batches don't broadcast in dimension ", axis));
    std::vector<Expr> domain(all.begin(), all.end());
    std::vector<bool> reduced(domain.size(), false);
    for (std::size_t k = 0; k < std::size_t(dims); ++k) {
      to.require(zero <= all[batch + k], cat(who(), ": the length of the result would be negative"));
      // If x is empty there are no terms: reading x would be out of bounds.
      domain.push_back(select(zero < x[batch + k], y[batch + k], zero));
      reduced.push_back(true);
    }
    const auto term_at = [this, node, &to, batch](Index at) {
      const std::size_t count = std::size_t(dims);
      const Expr none = to.pool().integer(0);
      const auto lengths = to.shape_in(0);
      std::vector<Expr> from_x, from_y;
      for (std::size_t axis = 0; axis < batch; ++axis) {
        from_x.push_back(is_repeated(node, 0, axis) ? none : at[axis]);
        from_y.push_back(is_repeated(node, 1, axis) ? none : at[axis]);
      }
      std::optional<Expr> inside;
      for (std::size_t k = 0; k < count; ++k) {
        const Expr j = at[batch + count + k], i = to.in(int(2 + k)) + at[batch + k] - j;
        const Expr fits = (none <= i) & (i < lengths[batch + k]);
        inside = inside ? *inside & fits : fits;
        from_x.push_back(select(fits, i, none));
        from_y.push_back(j);
      }
      const Expr term = to.in(0, from_x) * to.in(1, from_y);
      return select(*inside, term, cast(none, node.output().dtype()));
    };
    to.scan(
        0,
        {.domain = std::move(domain), .along = std::move(reduced), .dtype = node.output().dtype(), .value = term_at});
    return true;
  }

  // Correlates x with y reversed. x is padded or cropped at both ends to the elements that the result needs. If both
  // have batches, each element of the batch is a group of its own.
  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    TensorBuilder& builder = to.builder();
    TensorValue x = to.in(0), y = to.in(1);
    const std::size_t batch = batch_of(node.input(0)), count = std::size_t(dims);
    Dims shape, many;
    for (std::size_t axis = 0; axis < batch; ++axis) {
      const std::int64_t a = x.lengths[axis], b = y.lengths[axis];
      if (a != b && !is_repeated(node, 0, axis) && !is_repeated(node, 1, axis))
        throw ShapeError(cat(who(), ": batches of ", a, " and ", b, " don't broadcast"));
      shape.push_back(is_repeated(node, 0, axis) ? b : a);
    }
    many = shape;
    Dims low(batch + count, 0), high = low;
    std::vector<int> last;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t axis = batch + k;
      const std::int64_t start = to.need_integer(int(2 + k), "where the sums begin");
      const std::int64_t length = to.need_integer(int(2 + count + k), "the length of the result");
      require_sums(length);
      low[axis] = y.lengths[axis] - 1 - start;
      high[axis] = length + start - x.lengths[axis];
      shape.push_back(length);
      last.push_back(int(axis));
    }
    if (product(shape) == 0 || product(x.lengths) == 0 || product(y.lengths) == 0)
      return to.out(0, builder.full(0, x.dtype, shape));
    x = builder.pad(x, builder.number(0, x.dtype), low, high, Dims(batch + count, 0));
    y = builder.reverse(y, last);
    const auto each = [&](const TensorValue& v) { return product(Dims(std::span(v.lengths.data(), batch))); };
    const auto all = [&](const TensorValue& v) {
      Dims lengths = many;
      for (std::size_t k = 0; k < count; ++k) lengths.push_back(v.lengths[batch + k]);
      return builder.repeat(v, lengths);
    };
    if (each(x) != 1 && each(y) != 1) x = all(x), y = all(y);
    // XLA has convolutions of integers on CPUs only.
    if (is_discrete(x.dtype) && !builder.has_lapack())
      return to.out(0, sum_of_multiples(builder, all(x), all(y), shape, batch));
    const std::int64_t of_x = each(x), of_y = each(y), groups = of_x != 1 && of_y != 1 ? of_x : 1;
    const auto with_first = [&](const TensorValue& v, Dims first) {
      for (std::size_t k = 0; k < count; ++k) first.push_back(v.lengths[batch + k]);
      return builder.reshape(v, first);
    };
    const TensorValue made =
        builder.correlate(with_first(x, groups == 1 ? Dims{of_x, 1} : Dims{1, of_x}), with_first(y, {of_y, 1}), groups);
    to.out(0, builder.reshape(made, shape));
  }

  // The same sums, element by element of y: a part of x, times the element.
  static TensorValue sum_of_multiples(TensorBuilder& builder, const TensorValue& x, const TensorValue& y,
                                      const Dims& shape, std::size_t batch) {
    const std::int64_t rows = y.ndim() - int(batch) == 2 ? y.lengths[batch] : 1;
    TensorValue total = builder.full(0, x.dtype, shape);
    for (std::int64_t row = 0; row < rows; ++row)
      total = builder.repeat(y.lengths.back(), {total}, false, [&](const TensorValue& column, const TensorValues& sum) {
        TensorValues start(shape.size(), builder.number(0, DType::Int64));
        if (rows > 1) start[batch] = builder.number(double(row), DType::Int64);
        start.back() = column;
        Dims one(std::span(shape.data(), batch));
        one.resize(shape.size(), 1);
        const TensorValue factor = builder.repeat(builder.part(y, start, one), shape);
        return TensorValues{builder.map(x.dtype, {sum[0], builder.part(x, start, shape), factor},
                                        [](std::span<const Expr> in) { return in[0] + in[1] * in[2]; })};
      })[0];
    return total;
  }

  // The gradient of x[m] is the sum over j of g[m - start + j] y[j], a convolution with y reversed; that of y likewise.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (touches_complex(node)) return pullback_through_parts(node, cotangents);
    Variables out = no_gradients(node);
    if (cotangents[0].is_disconnected() || is_discrete(node.output().dtype())) return out;
    for (const int own : {0, 1}) {
      const Variable &input = node.input(own), &other = node.input(1 - own);
      Variables inputs{cotangents[0], backwards(other)};
      for (int k = 0; k < dims; ++k)
        inputs.push_back(lengths::sub(lengths::sub(axis_length(other, k), int64_constant(1)), node.input(2 + k)));
      for (int k = 0; k < dims; ++k) inputs.push_back(axis_length(input, k));
      const Variable whole = make_node(inputs).output();
      std::vector<int> repeated;
      for (std::size_t axis = 0; axis < batch_of(input); ++axis)
        if (input.static_shape()[axis] == 1 && whole.static_shape()[axis] != 1) repeated.push_back(int(axis));
      out[std::size_t(own)] =
          with_static_shape_of(input, repeated.empty() ? whole : sum(whole, Axes{repeated}, KeepDims::Yes));
    }
    return out;
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    Variable out = disconnected();
    for (const std::size_t own : {0, 1}) {
      if (tangents[own].is_disconnected() || is_discrete(node.output().dtype())) continue;
      Variables inputs(node.inputs().begin(), node.inputs().end());
      inputs[own] = tangents[own];
      const Variable part = with_static_shape_of(node.output(), make_node(inputs).output());
      out = out.is_disconnected() ? part : add(out, part);
    }
    return {out};
  }
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override {
    return connect_first(node, is_discrete(node.output().dtype()) ? 0 : 2);
  }
  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override {
    Variables inputs(batched.begin(), batched.end());
    for (std::size_t k = 2; k < inputs.size(); ++k)
      if (inputs[k].ndim() > 0)
        throw NotImplementedError(cat(who(), ": the results of a batch must have one length, but the lengths differ"));
    const int added = Batch{node, batched}.ndim();
    for (const int i : {0, 1}) {
      Variable& each = inputs[std::size_t(i)];
      // Batch dimensions are added in front of the existing ones.
      if (Batch{node, batched}.ndim(i) == 0)
        for (int k = 0; k < added; ++k) each = expand_dims(each, 0);
    }
    return make_node(inputs);
  }

 private:
  struct Plane {
    std::int64_t of[2] = {1, 1};
    std::int64_t count() const { return of[0] * of[1]; }
  };

  const char* who() const { return dims == 1 ? "convolve1d" : "convolve2d"; }
  std::size_t batch_of(const Variable& x) const { return std::size_t(x.ndim() - dims); }
  Variable axis_length(const Variable& x, int k) const { return length_of(x, x.ndim() - dims + k); }
  void require_sums(std::int64_t n) const {
    if (n < 0) throw ShapeError(cat(who(), ": the length of the result would be negative: ", n));
  }
  // Whether an input has a single element along a dimension of the batch, which is repeated.
  static bool is_repeated(const Apply& node, int input, std::size_t axis) {
    return node.input(input).static_shape()[axis] == 1 && node.output().static_shape()[axis] != 1;
  }
  // The number of the input's matrix that is used for element i of the batch.
  static std::int64_t matrix_index(const Apply& node, int input, const Dims& own, const Dims& shape, std::size_t batch,
                                   std::int64_t i) {
    std::int64_t out = 0, step = 1;
    for (std::size_t axis = batch; axis-- > 0; i /= std::max<std::int64_t>(shape[axis], 1)) {
      if (!is_repeated(node, input, axis)) out += i % shape[axis] * step;
      step *= own[axis];
    }
    return out;
  }
  Variable backwards(const Variable& x) const {
    std::vector<IndexItem> items(batch_of(x), IndexItem(Slice{}));
    for (int k = 0; k < dims; ++k) items.push_back(Slice{{}, {}, Operand(int64_constant(-1))});
    return subtensor(x, items);
  }
  template <class T>
  static void convolve_plane(const T* x, const Plane& nx, const T* y, const Plane& ny, const Plane& start,
                             const Plane& n, T* out) {
    for (std::int64_t i = 0; i < n.of[0]; ++i)
      for (std::int64_t k = 0; k < n.of[1]; ++k) {
        T total = 0;
        for (std::int64_t p = 0; p < ny.of[0]; ++p)
          for (std::int64_t q = 0; q < ny.of[1]; ++q) {
            const std::int64_t a = start.of[0] + i - p, b = start.of[1] + k - q;
            if (a < 0 || b < 0 || a >= nx.of[0] || b >= nx.of[1]) continue;
            total = sum_of(total, product_of(x[a * nx.of[1] + b], y[p * ny.of[1] + q]));
          }
        out[i * n.of[1] + k] = total;
      }
  }
};

std::vector<Sample> convolve_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& x_type, const Dims& y_type, const Dims& x, const Dims& y,
                       const std::vector<std::int64_t>& starts_and_lengths) {
    Variables inputs{sample_input(dtype, x_type, "x"), sample_input(dtype, y_type, "y")};
    const int dims = int(starts_and_lengths.size() / 2);
    for (const std::int64_t each : starts_and_lengths) inputs.push_back(int64_constant(each));
    out.push_back({make_ref<Convolve>(dims)->make_node(inputs), {sample_values(dtype, x), sample_values(dtype, y, 1)}});
  };
  for (const DType dtype : {DType::Float64, DType::Float32, DType::Int8, DType::UInt16, DType::Int64})
    add(dtype, {any}, {any}, {5}, {3}, {0, 7});
  add(DType::Float64, {any}, {any}, {3}, {5}, {2, 3});
  add(DType::Float64, {7}, {2}, {7}, {2}, {-2, 12});
  add(DType::Float64, {any}, {any}, {3}, {2}, {1, 0});
  add(DType::Float64, {any, any}, {1, any}, {3, 19}, {1, 4}, {3, 16});
  add(DType::Float64, {any, any}, {any, any}, {2, 9}, {2, 3}, {1, 9});
  add(DType::Float64, {any, any}, {any, any}, {4, 5}, {2, 3}, {0, 0, 5, 7});
  add(DType::Float64, {any, any, any}, {any, any}, {2, 6, 5}, {3, 2}, {1, 0, 6, 5});
  add(DType::Int32, {any, any}, {any, any}, {3, 4}, {2, 2}, {1, 1, 2, 3});
  return out;
}

BITALE_REGISTER_OP(Convolve, "A stretch of the convolution of vectors, or of matrices.", convolve_samples);

Variable convolved(const Operand& x, const Operand& y, ConvolutionMode mode, int dims) {
  Variables inputs{x.variable, y.variable}, counts;
  const char* const who = dims == 1 ? "convolve1d" : "convolve2d";
  std::vector<Operand> there;  // conditions that lengths are positive, where they are not known
  if (x.ndim() < dims || y.ndim() < dims)
    throw ShapeError(cat(who, ": expected two operands of ", dims, " dimensions or more, got ", x.variable.str(),
                         " with ", x.ndim(), " and ", y.variable.str(), " with ", y.ndim()));
  bool is_longer = true;
  for (int k = 0; k < dims; ++k) {
    const Variable n = length_of(x.variable, x.ndim() - dims + k), m = length_of(y.variable, y.ndim() - dims + k),
                   one = int64_constant(1);
    for (const Variable& length : {n, m}) {
      const auto known = known_integer(length);
      if (known && *known == 0) throw ShapeError(cat(who, ": a dimension has length 0"));
      if (!known) there.push_back(gt(length, int64_constant(0)));
    }
    const Variable least = lengths::min(n, m), most = lengths::max(n, m);
    const auto known_n = known_integer(n), known_m = known_integer(m);
    is_longer = is_longer && known_n && known_m && *known_m > *known_n;
    switch (mode) {
      case ConvolutionMode::Full:
        inputs.push_back(int64_constant(0));
        counts.push_back(lengths::sub(lengths::add(n, m), one));
        break;
      case ConvolutionMode::Valid:
        inputs.push_back(lengths::sub(least, one));
        counts.push_back(lengths::add(lengths::sub(most, least), one));
        break;
      case ConvolutionMode::Same:
        inputs.push_back(lengths::floor_div(lengths::sub(m, one), int64_constant(2)));
        counts.push_back(n);
        break;
    }
  }
  if (!there.empty())
    inputs[0] = check_and_raise(inputs[0], there, "ShapeError", cat(who, ": a dimension has length 0"));
  if (is_longer) std::swap(inputs[0], inputs[1]);  // the sums run over the second one
  inputs.insert(inputs.end(), counts.begin(), counts.end());
  const Variable out = (*make_ref<Convolve>(dims))(inputs);
  return is_float(out.dtype()) ? cast(out, promote(x.dtype(), y.dtype())) : out;
}

}  // namespace

Variable convolve1d(const Operand& x, const Operand& y, ConvolutionMode mode) {
  const LocationScope here(x.where);
  return convolved(x, y, mode, 1);
}
Variable convolve2d(const Operand& x, const Operand& y, ConvolutionMode mode) {
  const LocationScope here(x.where);
  return convolved(x, y, mode, 2);
}

namespace {

void require_vectors(const Operand& a, const Operand& v, const char* who) {
  for (const Operand* each : {&a, &v})
    if (each->ndim() != 1)
      throw ShapeError(
          cat(who, ": expected two vectors, got ", each->variable.str(), " with ", each->ndim(), " dimensions"));
}

void require_elements(const Operand& v, const char* name, const char* who) {
  if (v.variable.static_shape()[0] == 0)
    throw ShapeError(cat(who, ": expected at least one element as ", name, ", got ", v.variable.str()));
}

// `count` sums from `start` on.
Variable stretch_of(const Variable& sums, const Variable& start, const Variable& count) {
  return subtensor(sums, {IndexItem(Slice{Operand(start), Operand(lengths::add(start, count)), {}})});
}

Variable half_of(const Variable& n) { return lengths::floor_div(n, int64_constant(2)); }

}  // namespace

Variable convolve(const Operand& a, const Operand& v, ConvolutionMode mode) {
  const LocationScope here(a.where);
  require_vectors(a, v, "convolve");
  require_elements(a, "a", "convolve");
  require_elements(v, "v", "convolve");
  if (mode != ConvolutionMode::Same) return convolve1d(a, v, mode);
  const Variable n = length_of(a.variable, 0), m = length_of(v.variable, 0);
  const Variable start = half_of(lengths::sub(lengths::min(n, m), int64_constant(1)));
  return stretch_of(convolve1d(a, v, ConvolutionMode::Full), start, lengths::max(n, m));
}

Variable correlate(const Operand& a, const Operand& v, ConvolutionMode mode) {
  const LocationScope here(a.where);
  require_vectors(a, v, "correlate");
  require_elements(a, "a", "correlate");
  require_elements(v, "v", "correlate");
  const Variable reversed = flip(is_complex(v.dtype()) ? conj(v) : v.variable);
  if (mode != ConvolutionMode::Same) return convolve1d(a, reversed, mode);
  // Of an even number of terms, the middle is on the side of the longer operand.
  const Variable n = length_of(a.variable, 0), m = length_of(v.variable, 0), least = lengths::min(n, m);
  const Variable is_second_longer = lengths::is_negative(lengths::sub(n, m));
  const Variable start =
      lengths::choose(is_second_longer, half_of(least), half_of(lengths::sub(least, int64_constant(1))));
  return stretch_of(convolve1d(a, reversed, ConvolutionMode::Full), start, lengths::max(n, m));
}

}  // namespace bitale
