// Elemwise: one op class for every scalar record. All its duties follow from the record: broadcasting, evaluation by
// strided loops, the element rule that fuses, and both derivatives by the chain rule.
#include "ops/elementwise/elemwise.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/literal.hpp"
#include "graph/wide_literals.hpp"
#include "ops/analysis/interval.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/array_loops.hpp"
#include "ops/complex/complex.hpp"

namespace bitale {

namespace {

// ---- text of errors ----------------------------------------

std::string length_text(std::int64_t length) { return length == unknown_length ? "?" : std::to_string(length); }

// "x: f64[3, ?]"
std::string operand_text(const Variable& v) {
  std::vector<std::string> lengths;
  for (std::int64_t length : v.static_shape()) lengths.push_back(length_text(length));
  return cat(v.str(), ": ", dtype_short_name(v.dtype()), "[", join(lengths, ", "), "]");
}

std::string operands_text(std::span<const Variable> inputs) {
  std::vector<std::string> texts;
  for (auto& input : inputs) texts.push_back(operand_text(input));
  return join(texts, ", ");
}

[[noreturn]] void refuse_lengths(std::string_view op, int axis, std::int64_t a, std::int64_t b, bool at_run_time) {
  ShapeError error(cat(op, ": lengths ", a, " and ", b, " can't broadcast in dimension ", axis));
  if (at_run_time && (a == 1 || b == 1))
    error.add("hint",
              "a length of 1 broadcasts only where the type says so: declare it (shape=(1, ...)) or use specify_shape");
  throw error;
}

// ---- shapes ----------------------------------------

Dims output_static_shape(std::string_view op, std::span<const Variable> inputs) {
  Dims out = inputs[0].static_shape();
  for (auto& input : inputs.subspan(1)) {
    for (std::size_t axis = 0; axis < out.size(); ++axis) {
      const std::int64_t length = input.static_shape()[axis];
      if (length == out[axis] || length == 1) continue;
      if (out[axis] == 1 || out[axis] == unknown_length) {
        // With an unknown length, a 1 gives an unknown length, and any other known length is that of the result.
        out[axis] = length == unknown_length ? unknown_length : length;
      } else if (length != unknown_length) {
        refuse_lengths(op, int(axis), out[axis], length, false);
      }
    }
  }
  return out;
}

Dims run_time_shape(const Apply& node, std::string_view op, std::span<const Array> in) {
  Dims out(std::size_t(in[0].ndim()), 1);
  std::vector<bool> decided(out.size(), false);
  for (std::size_t i = 0; i < in.size(); ++i)
    for (std::size_t axis = 0; axis < out.size(); ++axis) {
      if (broadcasts(node.inputs()[i], axis)) continue;
      const std::int64_t length = in[i].shape()[axis];
      if (!decided[axis])
        out[axis] = length;
      else if (length != out[axis])
        refuse_lengths(op, int(axis), out[axis], length, true);
      decided[axis] = true;
    }
  return out;
}

// ---- loops ----------------------------------------

// Loops over several arrays at once; neighbouring dimensions that are evenly spaced in all of them are collapsed.
struct StridedAxes {
  Dims lengths;
  std::vector<Dims> strides;  // per array, like `lengths`

  void add_axis(std::int64_t length, std::span<const std::int64_t> steps) {
    if (length == 1) return;
    bool continues = !lengths.empty();
    for (std::size_t i = 0; i < steps.size() && continues; ++i) continues = strides[i].back() == steps[i] * length;
    if (continues)
      lengths.back() *= length;
    else
      lengths.push_back(length);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (continues)
        strides[i].back() = steps[i];
      else
        strides[i].push_back(steps[i]);
    }
  }
};

StridedAxes strided_axes(std::span<const Array> in, const Array& out) {
  StridedAxes nest;
  nest.strides.resize(in.size() + 1);
  std::vector<std::int64_t> steps(in.size() + 1);
  for (int axis = 0; axis < out.ndim(); ++axis) {
    for (std::size_t i = 0; i < in.size(); ++i)
      steps[i] = in[i].shape(axis) == 1 ? 0 : in[i].strides()[std::size_t(axis)];
    steps[in.size()] = out.strides()[std::size_t(axis)];
    nest.add_axis(out.shape(axis), steps);
  }
  return nest;
}

void run_loops(ScalarLoop loop, std::span<const Array> in, const Array& out) {
  if (out.size() == 0) return;
  const StridedAxes nest = strided_axes(in, out);
  const std::size_t arrays = in.size() + 1, outer = nest.lengths.empty() ? 0 : nest.lengths.size() - 1;
  std::vector<const char*> at(arrays);
  std::vector<std::int64_t> inner(arrays, 0);
  for (std::size_t i = 0; i < arrays; ++i) {
    at[i] = static_cast<const char*>(i < in.size() ? in[i].data() : out.data());
    if (!nest.lengths.empty()) inner[i] = nest.strides[i].back();
  }
  const std::int64_t count = nest.lengths.empty() ? 1 : nest.lengths.back();
  Dims position(outer, 0);
  while (true) {
    loop(count, at.data(), inner.data(), const_cast<char*>(at[in.size()]), inner[in.size()]);
    std::size_t axis = outer;
    while (axis-- > 0) {
      const bool wraps = ++position[axis] == nest.lengths[axis];
      const std::int64_t steps = wraps ? 1 - nest.lengths[axis] : 1;
      for (std::size_t i = 0; i < arrays; ++i) at[i] += steps * nest.strides[i][axis];
      if (!wraps) break;
      position[axis] = 0;
    }
    if (axis == std::size_t(-1)) return;
  }
}

// Whether a result of that dtype and shape can be written over the array, element by element.
bool can_hold(const Array& x, DType dtype, const Dims& shape) {
  return x.dtype() == dtype && x.shape() == shape && has_distinct_writable_elements(x);
}

// ---- the types of a node ----------------------------------------

// Throws a TypeError unless the record accepts such an operand when it computes in that dtype.
void require_complex(const ScalarOp& scalar, std::size_t input, DType dtype, DType compute) {
  const bool is_condition = scalar.has_condition && input == 0;
  if (is_complex(dtype) && !is_complex(compute) && !is_condition && !scalar.gives_shape(int(input)))
    throw TypeError(cat("complex numbers (", dtype_name(dtype), ") are no ", dtype_name(compute),
                        ": take `real`, `imag`, `abs` or `angle` of them"));
  if (!scalar.complex || (is_condition && is_complex(dtype)))
    throw TypeError(cat("not defined for complex numbers", is_condition ? " as conditions" : "", ", got ",
                        dtype_name(is_complex(dtype) ? dtype : compute)));
}

ScalarTypes types_of(const ScalarOp& scalar, std::span<const Variable> inputs) {
  SmallVector<DType, 4> dtypes;
  for (auto& input : inputs) dtypes.push_back(input.dtype());
  ScalarTypes types = scalar.dtypes(std::span<const DType>(dtypes.data(), dtypes.size()));
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    if (is_complex(dtypes[i]) || is_complex(types.compute)) require_complex(scalar, i, dtypes[i], types.compute);
  if (is_complex(types.compute) && scalar.complex->result != ComplexImplementation::Result::complex)
    types.out =
        scalar.complex->result == ComplexImplementation::Result::real ? component_dtype(types.compute) : DType::Bool;
  // Only conversions to a format of memory are computed in it.
  if (!scalar.loops.run[std::size_t(types.compute)]) types.compute = computing_dtype(types.compute);
  return types;
}

// Reuses the type of an input if it is the right one, so that equal types are mostly one object.
Type type_like(std::span<const Variable> inputs, DType dtype, const Dims& shape) {
  for (auto& input : inputs)
    if (input.dtype() == dtype && input.static_shape() == shape) return input.type();
  return tensor_type(dtype, shape);
}

void check_inputs(const ScalarOp& scalar, std::span<const Variable> inputs) {
  if (int(inputs.size()) != scalar.arity)
    throw TypeError(cat(scalar.name, ": expected ", scalar.arity, " operands, got ", inputs.size()));
  for (auto& input : inputs) {
    if (input.ndim() == inputs[0].ndim()) continue;
    TypeError error(
        cat(scalar.name, ": expected operands of equal rank, got ", inputs[0].ndim(), " and ", input.ndim()));
    error.add("inputs", operands_text(inputs));
    throw error;
  }
}

// Instances by record name.
struct Instances {
  std::mutex mutex;
  std::map<std::string_view, OpRef> ops;
};

}  // namespace

// The leading mark keeps these names apart from those of ops: no op's name begins with it.
std::string Elemwise::kind_name() const { return '\0' + std::string(scalar.name); }

Attributes Elemwise::attributes() const {
  Attributes out{{"scalar_op", std::string(scalar.name)}};
  if (inplace >= 0) out.push_back({"inplace", std::int64_t(inplace)});
  return out;
}

std::string Elemwise::label() const {
  return inplace < 0 ? std::string(scalar.title) : cat(scalar.title, "{inplace=", inplace, "}");
}

Apply Elemwise::make_node(std::span<const Variable> inputs) const {
  check_inputs(scalar, inputs);
  try {
    const Dims shape = output_static_shape(scalar.name, inputs);
    DType out;
    try {
      out = types_of(scalar, inputs).out;
    } catch (const TypeError& error) {
      throw TypeError(cat(scalar.name, ": ", error.what()));
    }
    return Apply(OpRef(this), Variables(inputs.begin(), inputs.end()), {type_like(inputs, out, shape)});
  } catch (Error& error) {
    error.add("inputs", operands_text(inputs));
    throw;
  }
}

std::vector<Shape> Elemwise::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  Shape out;
  const Dims& known = node.output().static_shape();
  for (std::size_t axis = 0; axis < known.size(); ++axis) {
    if (known[axis] != unknown_length) {
      out.push_back(constant(Array(known[axis])));
      continue;
    }
    std::size_t i = 0;
    while (i < inputs.size() && broadcasts(node.inputs()[i], axis)) ++i;
    // All inputs have length 1 if their types became more precise after the node was built.
    out.push_back(i < inputs.size() ? inputs[i][axis] : constant(Array(std::int64_t(1))));
  }
  return {out};
}

void Elemwise::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const Dims shape = run_time_shape(node, scalar.name, in);
  const ScalarTypes types = types_of(scalar, node.inputs());
  const auto slot = std::size_t(types.compute);
  const bool in_complex = is_complex(types.compute);
  const ScalarLoop loop =
      in_complex ? scalar.complex->loops[types.compute == DType::Complex128] : scalar.loops.run[slot];
  if (!loop) throw NotImplementedError(cat(scalar.name, " is not implemented for ", dtype_name(types.compute)));
  std::vector<Array> converted;
  for (std::size_t i = 0; i < in.size(); ++i)
    converted.push_back((in_complex ? in[i] : in[i].component(0)).astype(scalar.input_dtype(int(i), types.compute)));
  const DType written = in_complex ? types.out : scalar.loops.out[slot];
  const bool over = inplace >= 0 && written == types.out && can_hold(in[std::size_t(inplace)], written, shape);
  const Array result = over ? in[std::size_t(inplace)] : Array::empty(written, shape);
  run_loops(loop, converted, result);
  out[0] = result.astype(types.out);
}

std::vector<int> Elemwise::destroys(const Apply&, int) const {
  return inplace < 0 ? std::vector<int>() : std::vector<int>{inplace};
}

// Takes the first allowed input of the result's dtype that is not broadcast.
OpRef Elemwise::inplace_on_inputs(const Apply& node, std::span<const int> allowed) const {
  if (inplace >= 0) return {};
  const Variable output = node.output();
  for (int i : allowed) {
    const Variable& input = node.input(i);
    bool fits = input.dtype() == output.dtype();
    for (std::size_t axis = 0; axis < output.static_shape().size(); ++axis)
      fits = fits && broadcasts(input, axis) == broadcasts(output, axis);
    if (fits) return OpRef(new Elemwise(scalar, i));
  }
  return {};
}

bool Elemwise::emit(Lowering& to, const Apply& node) const {
  const Dims& known = node.output().static_shape();
  for (std::size_t axis = 0; axis < known.size(); ++axis) {
    std::optional<Expr> length;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      if (broadcasts(node.inputs()[i], axis)) continue;
      const Expr own = to.shape_in(int(i))[axis];
      if (!length)
        length = own;
      else if (!(*length == own))
        to.require(program::equal(*length, own), cat(scalar.name, ": lengths can't broadcast in dimension ", axis));
    }
  }
  const ScalarTypes types = types_of(scalar, node.inputs());
  auto rule = [&to, node, types, &scalar = scalar](Index at) {
    std::vector<Expr> values;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      std::vector<Expr> own(at.begin(), at.end());
      for (std::size_t axis = 0; axis < own.size(); ++axis)
        if (broadcasts(node.inputs()[i], axis)) own[axis] = to.pool().integer(0);
      values.push_back(program::cast(to.in(int(i), own), scalar.input_dtype(int(i), types.compute)));
    }
    const Expr value = scalar.expand(values, types.compute);
    if (!scalar.has(cheap)) to.pool().annotate_call(value, scalar.name, values);
    return program::cast(value, types.out);
  };
  to.element(0, rule, scalar.has(cheap) ? 1 : 20);
  return true;
}

void Elemwise::emit_tensors(TensorLowering& to, const Apply& node) const {
  const ScalarTypes types = types_of(scalar, node.inputs());
  Dims lengths;
  for (std::size_t axis = 0; axis < node.output().static_shape().size(); ++axis) {
    std::optional<std::int64_t> length;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      if (broadcasts(node.inputs()[i], axis)) continue;
      const std::int64_t own = to.lengths_in(int(i))[axis];
      if (length && *length != own)
        throw ShapeError(cat(scalar.name, ": lengths ", *length, " and ", own, " can't broadcast in dimension ", axis));
      length = own;
    }
    lengths.push_back(length.value_or(1));
  }
  TensorBuilder& builder = to.builder();
  TensorValues values;
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    values.push_back(
        builder.repeat(builder.convert(to.in(int(i)), scalar.input_dtype(int(i), types.compute)), lengths));
  const bool is_named = !scalar.stablehlo.empty() && is_float(types.compute);
  const TensorValue value = is_named ? builder.function(scalar.stablehlo, values)
                                     : builder.map(types.out, values, [&](std::span<const Expr> in) {
                                         return program::cast(scalar.expand(in, types.compute), types.out);
                                       });
  to.out(0, builder.convert(value, types.out));
}

PartsOfOutputs Elemwise::complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const {
  if (!scalar.complex || !scalar.complex->parts) return {};
  const ScalarTypes types = types_of(scalar, node.inputs());
  const DType component = component_dtype(types.compute);
  std::vector<ComplexParts> given(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (scalar.has_condition && i == 0) continue;
    given[i].real = cast(given[i].real, component);
    if (given[i].imag.defined()) given[i].imag = cast(given[i].imag, component);
  }
  ComplexParts out = scalar.complex->parts(given);
  if (!is_complex(types.out)) return {{{cast(out.real, types.out), {}}}};
  if (!out.imag.defined()) out.imag = zeros_like(out.real);
  return {{out}};
}

Apply Elemwise::vectorize_along(const Batch& batch) const {
  Variables inputs;
  for (int i = 0; i < int(batch.inputs.size()); ++i) inputs.push_back(broadcast_in_batch(batch, i));
  return elemwise(scalar.name)->make_node(pad_ranks(inputs));
}

ScalarTypes scalar_types(const Apply& node) { return types_of(*node.op().elementwise(), node.inputs()); }

const OpRef& elemwise(std::string_view scalar_name) {
  static Instances* const instances = new Instances;
  const std::lock_guard lock(instances->mutex);
  if (auto found = instances->ops.find(scalar_name); found != instances->ops.end()) return found->second;
  const ScalarOp& record = scalar_op(scalar_name);
  return instances->ops.emplace(record.name, OpRef(new Elemwise(record))).first->second;
}

Variables pad_ranks(std::span<const Variable> inputs) {
  int rank = 0;
  for (auto& input : inputs) rank = std::max(rank, input.ndim());
  Variables out;
  for (auto& input : inputs) {
    std::vector<int> order(std::size_t(rank - input.ndim()), new_axis);
    for (int axis = 0; axis < input.ndim(); ++axis) order.push_back(axis);
    out.push_back(input.ndim() == rank ? input : dimshuffle(input, order));
  }
  return out;
}

Variables with_literal_widths(const ScalarOp& scalar, std::span<const Variable> inputs) {
  const auto values = inputs.subspan(scalar.has_condition);
  std::vector<DType> dtypes;
  for (auto& input : inputs) dtypes.push_back(input.dtype());
  Variables out(inputs.begin(), inputs.end());
  if (!std::ranges::all_of(values, is_literal)) return out;
  const DType result = scalar.dtypes(dtypes).out;
  if (is_integer(result)) {
    std::ranges::copy(with_literal_widths(values), out.begin() + scalar.has_condition);
  } else if (is_float(result) && !scalar.has_condition && literals_are_wide()) {
    // A choice among literals has their values; what is computed of them is rounded, and nothing asks for float32.
    for (Variable& v : out) v = constant(v.constant()->astype(is_integer(v.dtype()) ? DType::Int64 : DType::Float64));
  }
  return out;
}

Variable apply_elemwise(std::string_view scalar_name, std::span<const Variable> inputs) {
  const OpRef& op = elemwise(scalar_name);
  return (*op)(pad_ranks(with_literal_widths(*op->elementwise(), inputs)));
}

const ScalarOp* scalar_op_of(const Variable& output) {
  const Op* op = output.owner_op();
  return op ? op->elementwise() : nullptr;
}

// ---- ranges ---------------------------------------------------------------------------------------------------------

namespace {

double value_at(const ScalarOp& op, double x) {
  const ScalarLoop run = op.loops.run[std::size_t(DType::Float64)];
  if (!run || op.loops.out[std::size_t(DType::Float64)] != DType::Float64) return std::nan("");
  const char* in[] = {reinterpret_cast<const char*>(&x)};
  const std::int64_t stride = sizeof(double);
  double out = 0;
  run(1, in, &stride, reinterpret_cast<char*>(&out), stride);
  return out;
}

// A finite limit at infinity is not reached, so that end is open. For step functions an end stays closed even if the
// operand's end is open: they reach it beside the bound.
interval::End end_of(const ScalarOp& op, interval::End at) {
  const double value = value_at(op, at.value);
  const bool limit = std::isinf(at.value) && std::isfinite(value);
  return {value, limit || (at.open && !op.has(discrete_output))};
}

Range monotone_range(const ScalarOp& op, const Range& a) {
  if (op.has(increasing)) return interval::between(end_of(op, interval::low_of(a)), end_of(op, interval::high_of(a)));
  if (op.has(decreasing)) return interval::between(end_of(op, interval::high_of(a)), end_of(op, interval::low_of(a)));
  return {};
}

}  // namespace

Range range_of_scalar(const ScalarOp& scalar, Ranges operands, DType out) {
  if (scalar.range) return scalar.range(operands, out);
  return scalar.arity == 1 ? monotone_range(scalar, operands[0]) : Range();
}

Range Elemwise::range(const Apply& node, int, InputRanges& inputs) const {
  if (!scalar.range && scalar.arity != 1) return {};
  std::vector<Range> of(node.inputs().size());
  for (std::size_t i = 0; i < of.size(); ++i) of[i] = inputs.of(int(i));
  return range_of_scalar(scalar, of, node.output().dtype());
}

}  // namespace bitale
