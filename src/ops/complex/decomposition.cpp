#include "ops/complex/decomposition.hpp"

#include <algorithm>

#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

bool is_of_integers(const std::string& form) { return form.ends_with('i'); }
std::string dimensions(const std::string& form) {
  return is_of_integers(form) ? form.substr(0, form.size() - 1) : form;
}

// The lengths that the letters stand for, as far as the inputs determine them.
template <class Length>
struct Letters {
  std::vector<std::pair<char, Length>> known;

  Length* find(char letter) {
    for (auto& [each, length] : known)
      if (each == letter) return &length;
    return nullptr;
  }
  // The lengths of a form all of whose letters are known, except k and 2.
  template <class Least, class Two>
  std::vector<Length> lengths(const std::string& form, Least&& least, Two&& two) {
    std::vector<Length> out;
    for (const char letter : dimensions(form))
      if (letter == '2')
        out.push_back(two());
      else if (letter == 'k')
        out.push_back(least(*find(find('m') ? 'm' : 'n'), *find('n')));
      else
        out.push_back(*find(letter));
    return out;
  }
};

template <class Length, class Shapes>
Letters<Length> letters_of(const std::vector<std::string>& forms, const Shapes& shapes) {
  Letters<Length> out;
  for (std::size_t input = 0; input < forms.size(); ++input)
    for (std::size_t axis = 0; axis < forms[input].size(); ++axis)
      if (forms[input][axis] != '2' && !out.find(forms[input][axis]))
        out.known.emplace_back(forms[input][axis], shapes(input)[axis]);
  return out;
}

std::string listed(const std::string& form, bool with_parts) {
  std::vector<std::string> letters;
  for (const char letter : dimensions(form))
    if (letter != '2')
      letters.push_back(std::string(1, letter));
    else if (with_parts)
      letters.push_back("p");
  return cat("(", join(letters, ","), ")");
}

std::string listed(const std::vector<std::string>& forms, bool with_parts) {
  std::vector<std::string> out;
  for (auto& form : forms) out.push_back(listed(form, with_parts));
  return join(out, ",");
}

// Throws a ShapeError unless each letter stands for one length, as far as lengths are known.
template <class Shapes>
void require_forms(const char* who, const std::vector<std::string>& forms, const Shapes& shapes) {
  Letters<std::int64_t> letters;
  for (std::size_t input = 0; input < forms.size(); ++input)
    for (std::size_t axis = 0; axis < forms[input].size(); ++axis) {
      const char letter = forms[input][axis];
      const Dims& shape = shapes(input);
      const std::int64_t length = shape[axis];
      if (length == unknown_length) continue;
      if (letter == '2' && length != 2)
        throw ShapeError(cat(who, ": expected pairs, got ", length, " numbers for each element"));
      if (letter == '2') continue;
      const std::int64_t* const known = letters.find(letter);
      if (!known) {
        letters.known.emplace_back(letter, length);
        continue;
      }
      if (*known == length) continue;
      if (axis == 1 && forms[input][0] == letter && shape[0] == *known)
        throw ShapeError(cat(who, ": expected square matrices, got ", shape[0], " rows and ", length, " columns"));
      throw ShapeError(cat(who, ": expected matrices of the sizes ", listed(forms, false), ", got ", letter, " = ",
                           *known, " and ", length));
    }
}

}  // namespace

std::vector<std::string> ComplexDecomposition::inputs() const {
  return {cat(is_square() ? "nn" : "mn", is_of_real() ? "" : "2")};
}

std::string ComplexDecomposition::signature() const {
  return cat(listed(inputs(), true), "->", listed(outputs(), true));
}

Apply ComplexDecomposition::make_node(std::span<const Variable> given) const {
  const auto forms = inputs();
  require_inputs(*this, given, forms.size());
  const DType dtype = matrix_dtype(given);
  Variables own;
  for (std::size_t input = 0; input < forms.size(); ++input) {
    const Variable x = cast(given[input], dtype);
    if (x.ndim() != int(forms[input].size()))
      throw ShapeError(cat(who(), ": expected a matrix", forms[input].ends_with('2') ? " of pairs [m, n, 2]" : "",
                           ", got ", x.str(), " of type ", x.type()->str()));
    own.push_back(x);
  }
  const auto shapes = [&](std::size_t input) -> const Dims& { return own[input].static_shape(); };
  require_forms(who(), forms, shapes);
  auto letters = letters_of<std::int64_t>(forms, shapes);
  for (std::size_t input = 0; input < forms.size(); ++input)  // the length may be known only from another input
    for (std::size_t axis = 0; axis < forms[input].size(); ++axis)
      if (std::int64_t* const length = letters.find(forms[input][axis]); length && *length == unknown_length)
        *length = shapes(input)[axis];
  std::vector<Type> types;
  for (auto& form : outputs()) {
    Dims lengths;
    for (auto length : letters.lengths(form, min_length, [] { return std::int64_t(2); })) lengths.push_back(length);
    types.push_back(tensor_type(is_of_integers(form) ? DType::Int32 : dtype, lengths));
  }
  return Apply(OpRef(this), std::move(own), types);
}

std::vector<Shape> ComplexDecomposition::infer_shape(const Apply&, std::span<const Shape> shapes) const {
  auto letters = letters_of<Variable>(inputs(), [&](std::size_t input) -> const Shape& { return shapes[input]; });
  std::vector<Shape> out;
  const auto least = [](const Variable& a, const Variable& b) { return lengths::min(a, b); };
  for (auto& form : outputs()) out.push_back(letters.lengths(form, least, [] { return int64_constant(2); }));
  return out;
}

void ComplexDecomposition::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const auto shapes = [&](std::size_t input) -> const Dims& { return in[input].shape(); };
  require_forms(who(), inputs(), shapes);
  auto letters = letters_of<std::int64_t>(inputs(), shapes);
  const auto memory = [&](const std::string& form, DType dtype) {
    Dims shape;
    for (auto length : letters.lengths(
             form, [](std::int64_t a, std::int64_t b) { return std::min(a, b); }, [] { return std::int64_t(2); }))
      shape.push_back(length);
    return Array::empty(is_of_integers(form) ? DType::Int32 : dtype, shape);
  };
  std::vector<Array> own, written;
  for (auto& each : in) own.push_back(each.contiguous());
  const auto forms = outputs();
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::optional<int> start = k == 0 ? overwritten() : std::nullopt;
    out[k] = start ? in[std::size_t(*start)].copy() : memory(forms[k], node.output(int(k)).dtype());
    written.push_back(out[k]);
  }
  for (auto& form : scratch()) written.push_back(memory(form, own[0].dtype()));
  const std::int64_t n = *letters.find('n');
  if (const auto status = run(own[0].dtype(), letters.find('m') ? *letters.find('m') : n, n, own, written))
    fail(status);
}

bool ComplexDecomposition::emit(Lowering& to, const Apply& node) const {
  const auto forms = inputs();
  std::vector<std::span<const Expr>> shapes;
  for (std::size_t input = 0; input < forms.size(); ++input) shapes.push_back(to.shape_in(int(input)));
  auto letters = letters_of<Expr>(forms, [&](std::size_t input) { return shapes[input]; });
  for (std::size_t input = 0; input < forms.size(); ++input)
    for (std::size_t axis = 0; axis < forms[input].size(); ++axis) {
      const char letter = forms[input][axis];
      const Expr length = shapes[input][axis];
      if (letter == '2')
        to.require(equal(length, to.pool().integer(2)), cat(who(), ": expected pairs"));
      else if (axis == 1 && letter == forms[input][0])
        to.require(equal(shapes[input][0], length), cat(who(), ": expected square matrices"));
      else
        to.require(equal(*letters.find(letter), length),
                   cat(who(), ": expected matrices of the sizes ", listed(forms, false)));
    }
  std::vector<CallArgument> arguments;
  for (const char letter : {'m', 'n', 'c'})
    if (const Expr* const length = letters.find(letter)) arguments.push_back(*length);
  for (auto flag : flags()) arguments.push_back(to.pool().integer(flag));
  if (const auto number = tolerance()) arguments.push_back(to.pool().number(*number, DType::Float64));
  for (int input = 0; input < int(forms.size()); ++input)
    if (overwritten() != input) arguments.push_back(InputData{input});
  for (int k = 0; k < int(node.output_count()); ++k)
    arguments.push_back(OutputData{k, {}, k == 0 ? overwritten() : std::nullopt});
  const auto two = [&] { return to.pool().integer(2); };
  for (auto& form : scratch()) {
    Expr count = to.pool().integer(1);
    for (const Expr length : letters.lengths(
             form, [](Expr a, Expr) { return a; }, two))
      count = count * length;
    arguments.push_back(Scratch{is_of_integers(form) ? DType::Int32 : node.output(0).dtype(), count});
  }
  call_runtime(to, node, std::move(arguments));
  return true;
}

void ComplexDecomposition::emit_tensors(TensorLowering& to, const Apply&) const {
  const auto forms = inputs();
  std::vector<Dims> shapes;
  TensorValues in;
  for (std::size_t input = 0; input < forms.size(); ++input) {
    const TensorValue x = to.in(int(input));
    const std::size_t batch = x.lengths.size() - forms[input].size();
    shapes.emplace_back(std::span(x.lengths.data() + batch, forms[input].size()));
    in.push_back(forms[input].ends_with('2') ? numbers_of(to.builder(), x) : x);
  }
  require_forms(who(), forms, [&](std::size_t input) -> const Dims& { return shapes[input]; });
  const TensorValues out = emit_numbers(to, in);
  for (std::size_t k = 0; k < out.size(); ++k) out_numbers(to, int(k), out[k]);
}

TensorValues ComplexDecomposition::emit_numbers(TensorLowering& to, const TensorValues&) const {
  to.refuse("XLA's LAPACK has no such routine");
  return {};
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
        values.mutable_data_as<double>()[step * (k * matrix[1] + k)] += 4.0 * double(k + 1);
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
