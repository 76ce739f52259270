#include "ops/linalg/lapack_op.hpp"

#include <algorithm>

#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

// The letters of all dimensions, with 2 for pairs.
struct LapackOp::Form {
  std::string letters;
  bool is_of_pairs = false;
  std::optional<DType> integers = {};

  DType dtype(DType of_numbers) const { return integers.value_or(of_numbers); }
};

std::vector<LapackOp::Form> LapackOp::forms(const std::vector<std::string>& texts) const {
  std::vector<Form> out;
  for (std::string letters : texts) {
    const char kind = letters.empty() || std::string_view("ril").find(letters.back()) == std::string_view::npos
                          ? ' '
                          : letters.back();
    if (kind != ' ') letters.pop_back();
    const bool is_of_pairs = has_pairs_ && kind == ' ';
    if (is_of_pairs) letters += '2';
    out.push_back({letters, is_of_pairs,
                   kind == 'i'   ? std::optional(DType::Int32)
                   : kind == 'l' ? std::optional(DType::Int64)
                                 : std::nullopt});
  }
  return out;
}

namespace {

// The lengths that the letters stand for, as far as the inputs determine them.
template <class Length>
struct Letters {
  std::vector<std::pair<char, Length>> known;

  template <class Forms, class Shapes>
  Letters(const Forms& forms, const Shapes& shapes) {
    for (std::size_t input = 0; input < forms.size(); ++input)
      for (std::size_t axis = 0; axis < forms[input].letters.size(); ++axis)
        if (const char letter = forms[input].letters[axis]; letter != '2' && !find(letter))
          known.emplace_back(letter, shapes(input)[axis]);
  }
  Length* find(char letter) {
    for (auto& [each, length] : known)
      if (each == letter) return &length;
    return nullptr;
  }
  template <class Least, class Two>
  std::vector<Length> lengths(const std::string& letters, Least&& least, Two&& two) {
    std::vector<Length> out;
    for (const char letter : letters) {
      const Length* const known = find(letter);
      out.push_back(letter == '2' ? two() : known ? *known : least(*find('m'), *find('n')));
    }
    return out;
  }
};

constexpr auto static_two = [] { return std::int64_t(2); };

// "(m,n),(m,c)": c stands for the parts of complex numbers.
template <class Forms>
std::string listed(const Forms& forms) {
  std::vector<std::string> out;
  for (auto& form : forms) {
    std::vector<std::string> letters;
    for (const char letter : form.letters) letters.emplace_back(1, letter == '2' ? 'c' : letter);
    out.push_back(cat("(", join(letters, ","), ")"));
  }
  return join(out, ",");
}

}  // namespace

// ShapeError unless pairs have two numbers, as far as lengths are known.
template <class Shapes>
void LapackOp::require_pairs(const std::vector<Form>& forms, const Shapes& shapes) const {
  for (std::size_t input = 0; input < forms.size(); ++input)
    if (const Dims& shape = shapes(input); forms[input].is_of_pairs && shape.back() != 2)
      if (shape.back() != unknown_length)
        throw ShapeError(cat(who(), ": expected pairs, got ", shape.back(), " numbers for each element"));
}

std::string LapackOp::signature() const { return cat(listed(forms(inputs())), "->", listed(forms(outputs()))); }

Apply LapackOp::make_node(std::span<const Variable> given) const {
  const auto read = forms(inputs());
  require_inputs(*this, given, read.size());
  const DType dtype = matrix_dtype(given);
  Variables own;
  for (std::size_t input = 0; input < read.size(); ++input) {
    const Variable x = cast(given[input], dtype);
    if (read[input].is_of_pairs && x.ndim() != int(read[input].letters.size()))
      throw ShapeError(
          cat(who(), ": expected a matrix of pairs [m, n, 2], got ", x.str(), " of type ", x.type()->str()));
    require_ndim(x, int(read[input].letters.size()));
    own.push_back(x);
  }
  const auto shapes = [&](std::size_t input) -> const Dims& { return own[input].static_shape(); };
  require_pairs(read, shapes);
  check_lengths(std::span<const Variable>(own));
  Letters<std::int64_t> letters(read, shapes);
  for (std::size_t input = 0; input < read.size(); ++input)  // the length may be known only from another input
    for (std::size_t axis = 0; axis < read[input].letters.size(); ++axis)
      if (std::int64_t* const length = letters.find(read[input].letters[axis]); length && *length == unknown_length)
        *length = shapes(input)[axis];
  std::vector<Type> types;
  for (auto& form : forms(outputs()))
    types.push_back(tensor_type(form.dtype(dtype), Dims(letters.lengths(form.letters, min_length, static_two))));
  return Apply(OpRef(this), std::move(own), types);
}

std::vector<Shape> LapackOp::infer_shape(const Apply&, std::span<const Shape> shapes) const {
  const auto read = forms(inputs());
  Letters<Variable> letters(read, [&](std::size_t input) -> const Shape& { return shapes[input]; });
  std::vector<Shape> out;
  for (auto& form : forms(outputs())) {
    const auto like =
        std::find_if(read.begin(), read.end(), [&](const Form& each) { return each.letters == form.letters; });
    out.push_back(like != read.end() ? shapes[std::size_t(like - read.begin())]
                                     : letters.lengths(form.letters, lengths::min, [] { return int64_constant(2); }));
  }
  return out;
}

void LapackOp::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const auto read = forms(inputs()), written = forms(outputs());
  const auto shapes = [&](std::size_t input) -> const Dims& { return in[input].shape(); };
  require_pairs(read, shapes);
  check_lengths(in);
  Letters<std::int64_t> letters(read, shapes);
  const DType dtype = node.input(0).dtype();
  const auto memory = [&](const Form& form) {
    return Array::empty(form.dtype(dtype), Dims(letters.lengths(form.letters, min_length, static_two)));
  };
  std::vector<Array> own, made;
  for (auto& each : in) own.push_back(each.contiguous());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::optional<int> start = k == 0 ? overwritten() : std::nullopt;
    out[k] = start ? in[std::size_t(*start)].copy() : memory(written[k]);
    made.push_back(out[k]);
  }
  for (auto& form : forms(scratch())) made.push_back(memory(form));
  const auto length = [&](char letter) { return letters.find(letter) ? *letters.find(letter) : 0; };
  if (const auto status = run({dtype, length('m'), length('n'), length('k'), own, made})) fail(status);
}

bool LapackOp::emit(Lowering& to, const Apply& node) const {
  const auto read = forms(inputs());
  for (int input = 0; input < int(read.size()); ++input)
    if (read[std::size_t(input)].is_of_pairs)
      to.require(equal(to.shape_in(input).back(), to.pool().integer(2)), cat(who(), ": expected pairs"));
  require_lengths(to);
  Letters<Expr> letters(read, [&](std::size_t input) { return to.shape_in(int(input)); });
  std::vector<CallArgument> arguments;
  for (const char letter : {'m', 'n', 'k'})
    if (const Expr* const length = letters.find(letter)) arguments.push_back(*length);
  for (auto flag : flags()) arguments.push_back(to.pool().integer(flag));
  if (const auto number = tolerance()) arguments.push_back(to.pool().number(*number, DType::Float64));
  for (int input = 0; input < int(read.size()); ++input)
    if (overwritten() != input) arguments.push_back(InputData{input});
  for (int k = 0; k < int(node.output_count()); ++k)
    arguments.push_back(OutputData{k, {}, k == 0 ? overwritten() : std::nullopt});
  for (auto& form : forms(scratch())) {
    Expr count = to.pool().integer(1);
    for (const Expr length : letters.lengths(
             form.letters, [](Expr a, Expr) { return a; }, [&] { return to.pool().integer(2); }))
      count = count * length;
    arguments.push_back(Scratch{form.dtype(node.output(0).dtype()), count});
  }
  call_runtime(to, node, std::move(arguments));
  return true;
}

void LapackOp::emit_tensors(TensorLowering& to, const Apply&) const {
  check_lengths(to);
  TensorValues in;
  for (auto& form : forms(inputs())) {
    const TensorValue x = to.in(int(in.size()));
    in.push_back(form.is_of_pairs ? numbers_of(to.builder(), x) : x);
  }
  const TensorValues out = emit_numbers(to, in);
  for (std::size_t k = 0; k < out.size(); ++k) out_numbers(to, int(k), out[k]);
}

TensorValues LapackOp::emit_numbers(TensorLowering& to, const TensorValues&) const {
  to.refuse("XLA's LAPACK has no such routine");
  return {};
}

Variables LapackOp::of(std::span<const Variable> matrices) const {
  Variables inputs;
  for (auto& each : matrices) inputs.push_back(has_pairs_ ? as_pairs(each) : each);
  const Apply node = blockwise(OpRef(this), signature(), inputs);
  Variables out;
  for (auto& form : forms(outputs())) {
    const Variable& each = node.output(int(out.size()));
    out.push_back(form.is_of_pairs ? of_pairs(each) : each);
  }
  return out;
}

Variable LapackOp::numbers(const Variable& stored) const {
  return has_pairs_ && !stored.is_disconnected() ? of_pairs(stored) : stored;
}

Variable LapackOp::stored(const Variable& numbers) const {
  return has_pairs_ && !numbers.is_disconnected() ? as_pairs(numbers) : numbers;
}

Variable LapackOp::cotangent(const Apply& node, std::span<const Variable> cotangents, int output) const {
  return numbers(cotangent_or_zeros(node, cotangents, output));
}

Variables LapackOp::gradients(const Apply& node, const Variables& numbers) const {
  Variables out;
  for (auto& each : numbers) {
    const Variable& input = node.input(int(out.size()));
    out.push_back(each.is_disconnected() ? each : with_static_shape_of(input, stored(each)));
  }
  return out;
}

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

Variable skew_part(const Variable& x) { return sub(x, adjoint(x)); }

}  // namespace bitale
