#include "ops/complex_decomposition.hpp"

#include <algorithm>

#include "bitale/ops/ops.hpp"
#include "ops/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

Variable as_pairs(const Variable& z) { return stack({real(z), imag(z)}, z.ndim()); }

Variable of_pairs(const Variable& pairs) {
  return complex(subtensor(pairs, {Ellipsis{}, 0}), subtensor(pairs, {Ellipsis{}, 1}));
}

namespace {

bool is_of_integers(const std::string& form) { return form.ends_with('i'); }

template <class Length>
std::vector<Length> lengths_by(const std::string& form, const Length& m, const Length& n, const Length& k,
                               const Length& two) {
  std::vector<Length> out;
  for (const char letter : form)
    if (letter != 'i') out.push_back(letter == 'm' ? m : letter == 'n' ? n : letter == 'k' ? k : two);
  return out;
}

}  // namespace

std::string ComplexDecomposition::signature() const {
  const auto listed = [](const std::string& form) {
    std::vector<std::string> letters;
    for (const char letter : form)
      if (letter != 'i') letters.push_back(letter == '2' ? "p" : std::string(1, letter));
    return cat("(", join(letters, ","), ")");
  };
  std::vector<std::string> out;
  for (auto& form : outputs()) out.push_back(listed(form));
  const std::string matrix = is_square() ? "nn" : "mn";
  const std::vector<std::string> in(std::size_t(matrices()), listed(is_of_real() ? matrix : matrix + "2"));
  return cat(join(in, ","), "->", join(out, ","));
}

Apply ComplexDecomposition::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, std::size_t(matrices()));
  const DType dtype = matrix_dtype(inputs);
  const bool has_pairs = !is_of_real();
  std::int64_t m = unknown_length, n = unknown_length;
  Variables own;
  for (auto& input : inputs) {
    const Variable x = cast(input, dtype);
    const Dims& shape = x.static_shape();
    if (x.ndim() != (has_pairs ? 3 : 2) || (has_pairs && shape[2] != 2 && shape[2] != unknown_length))
      throw ShapeError(cat(who(), ": expected a matrix", has_pairs ? " of pairs [m, n, 2]" : "", ", got ", x.str(),
                           " of type ", x.type()->str()));
    m = common_length(m, shape[0], 0, who());
    n = common_length(n, shape[1], 1, who());
    own.push_back(x);
  }
  if (is_square()) {
    if (m != n && m != unknown_length && n != unknown_length)
      throw ShapeError(cat(who(), ": expected square matrices, got ", m, " rows and ", n, " columns"));
    m = n = common_length(m, n, 0, who());
  }
  std::vector<Type> types;
  for (auto& form : outputs()) {
    Dims lengths;
    for (auto length : lengths_by<std::int64_t>(form, m, n, least_length(m, n), 2)) lengths.push_back(length);
    types.push_back(tensor_type(is_of_integers(form) ? DType::Int32 : dtype, lengths));
  }
  return Apply(OpRef(this), std::move(own), types);
}

std::vector<Shape> ComplexDecomposition::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  const Variable m = inputs[0][0], n = inputs[0][1];
  std::vector<Shape> out;
  for (auto& form : outputs()) out.push_back(lengths_by<Variable>(form, m, n, lengths::min(m, n), int64_constant(2)));
  return out;
}

void ComplexDecomposition::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const std::int64_t m = in[0].shape(0), n = in[0].shape(1);
  if (is_square() && m != n)
    throw ShapeError(cat(who(), ": expected square matrices, got ", m, " rows and ", n, " columns"));
  std::vector<Array> own;
  for (auto& each : in) {
    if (each.shape(0) != m || each.shape(1) != n)
      throw ShapeError(cat(who(), ": the matrices have different sizes, ", m, " x ", n, " and ", each.shape(0), " x ",
                           each.shape(1)));
    if (!is_of_real() && each.shape(2) != 2)
      throw ShapeError(cat(who(), ": expected pairs, got ", each.shape(2), " numbers for each element"));
    own.push_back(each.contiguous());
  }
  const auto forms = outputs();
  for (std::size_t k = 0; k < out.size(); ++k) {
    Dims shape;
    for (auto length : lengths_by<std::int64_t>(forms[k], m, n, std::min(m, n), 2)) shape.push_back(length);
    out[k] = Array::empty(node.output(int(k)).dtype(), shape);
  }
  check(run(own[0].dtype(), m, n, own, std::span<const Array>(out.data(), out.size())));
}

bool ComplexDecomposition::emit(Lowering& to, const Apply& node) const {
  const auto shape = to.shape_in(0);
  if (is_square()) to.require(equal(shape[0], shape[1]), cat(who(), ": expected square matrices"));
  for (int input = 0; input < matrices(); ++input) {
    const auto own = to.shape_in(input);
    for (int axis = 0; input > 0 && axis < 2; ++axis)
      to.require(equal(own[std::size_t(axis)], shape[std::size_t(axis)]),
                 cat(who(), ": expected matrices of the same size"));
    if (!is_of_real()) to.require(equal(own[2], to.pool().integer(2)), cat(who(), ": expected pairs"));
  }
  std::vector<CallArgument> arguments{shape[0]};
  if (!is_square()) arguments.push_back(shape[1]);
  for (auto flag : flags()) arguments.push_back(to.pool().integer(flag));
  for (int input = 0; input < matrices(); ++input) arguments.push_back(InputData{input});
  for (int k = 0; k < int(node.output_count()); ++k) arguments.push_back(OutputData{k});
  call_runtime(to, node, std::move(arguments));
  return true;
}

Apply apply_pairs(const Ref<const MatrixOp>& op, std::span<const Variable> matrices) {
  Variables inputs;
  for (auto& each : matrices) inputs.push_back(as_pairs(each));
  return blockwise(op, op->signature(), inputs);
}
Apply apply_pairs(const Ref<const MatrixOp>& op, const Variable& x) { return apply_pairs(op, std::span(&x, 1)); }

std::vector<Sample> decomposition_samples(const OpRef& op, const std::vector<Dims>& shapes, bool smooth,
                                          bool is_of_real) {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  for (const DType dtype : {DType::Float64, DType::Float32})
    for (auto& matrix : shapes) {
      Dims shape = matrix, type{any, any};
      if (!is_of_real) shape.push_back(2), type.push_back(2);
      Array values = sample_values(DType::Float64, shape).copy();
      const std::int64_t step = is_of_real ? 1 : 2;
      for (std::int64_t k = 0; k < std::min(matrix[0], matrix[1]); ++k)
        values.data_as<double>()[step * (k * matrix[1] + k)] += 4.0 * double(k + 1);
      const Variable x[] = {sample_input(dtype, type, "x")};
      const bool is_empty = product(shape) == 0;
      out.push_back({op->make_node(x), {values.astype(dtype)}, 1e-6, smooth && !is_empty && dtype == DType::Float64});
    }
  return out;
}

Variable complex_cotangent(const Apply& node, std::span<const Variable> cotangents, int output) {
  return of_pairs(cotangent_or_zeros(node, cotangents, output));
}

Variable skew_part(const Variable& x) { return sub(x, adjoint(x)); }

}  // namespace bitale
