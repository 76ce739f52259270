// Rules derived from the traits in the scalar ops' records: one equation per record and trait, and neutral and
// absorbing elements.
#include "bitale/core/text.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

Variable apply(const ScalarOp& op, std::initializer_list<Variable> inputs) {
  return apply_elemwise(op.name, std::span(inputs.begin(), inputs.size()));
}

// A pattern variable of float64, or of int64 for ops that refuse floats (bitwise operations).
Variable pattern_leaf(const ScalarOp& op, const char* name) {
  const DType bits[] = {DType::Float64, DType::Float64};
  try {
    op.dtypes(std::span(bits, std::size_t(op.arity)));
    return pattern_variable(name);
  } catch (const std::exception&) {
    return pattern_variable(name, DType::Int64);
  }
}

void symmetries(Rules& rules, const ScalarOp& op) {
  const Variable x = pattern_leaf(op, "x");
  // An op that computes in floats does not see the sign that an integer operand was given in its own dtype.
  const DType narrow = DType::Int8;
  const bool keeps_ints = (op.has(even) || op.has(odd)) && op.dtypes({&narrow, 1}).compute == narrow;
  const std::uint32_t numbers_with_sign = keeps_ints ? floats | signed_ints : std::uint32_t(floats);
  if (op.has(involution)) {
    Rule& rule = rules.equation(cat(op.name, "_of_", op.name), apply(op, {apply(op, {x})}), x)
                     .on(any_dtype)
                     .tags(canonicalize, specialize, "inverse_pair", cat("useless_", op.title, "_of_", op.title));
    if (op.name == "reciprocal") rule.differs_at({1e-310});  // the reciprocal of a subnormal number is infinite
  } else if (op.has(idempotent))
    rules.equation(cat(op.name, "_of_", op.name), apply(op, {apply(op, {x})}), apply(op, {x}))
        .on(any_dtype)
        .tags(canonicalize);
  if (op.has(even)) {
    rules.equation(cat(op.name, "_of_neg"), apply(op, {-x}), apply(op, {x}))
        .on(numbers_with_sign)
        .tags(canonicalize, specialize);
    if (op.name != "abs")
      rules.equation(cat(op.name, "_of_abs"), apply(op, {abs(x)}), apply(op, {x}))
          .on(numbers_with_sign)
          .tags(canonicalize, specialize);
  }
  if (op.has(odd) && op.name != "neg") {
    Rule& rule =
        rules.equation(cat(op.name, "_of_neg"), apply(op, {-x}), -apply(op, {x})).tags(canonicalize, specialize);
    if (op.name == "sign") rule.no_signed_zeros();  // sign(-0.0) is 0.0
  }
}

void same_operands(Rules& rules, const ScalarOp& op) {
  const Variable x = pattern_leaf(op, "x");
  if (op.has(idempotent) && op.name != "second")
    rules.equation(cat(op.name, "_of_same"), apply(op, {x, x}), x)
        .on(any_dtype)
        .tags(canonicalize, "local_useless_elemwise");
}

// ---- neutral and absorbing elements ---------------------------------------------------------------------------------

// Values are compared in the dtype of the result: -1 has all bits set in any integer dtype.
bool is_value(const Variable& v, double wanted, DType dtype) {
  const std::optional<double> value = scalar_constant(v);
  if (!value) return false;
  const Array actual = Array(*value).astype(DType::Int64), expected = Array(wanted).astype(DType::Int64);
  if (is_float(dtype)) return *value == wanted;
  return actual.astype(dtype).item() == expected.astype(dtype).item() && *value == double(actual.int_item());
}

std::optional<Variables> drop_neutral(FunctionGraph&, const Apply& node) {
  const ScalarOp& op = *scalar_op_of(node.output());
  if (!op.has_identity || node.inputs().size() != 2) return std::nullopt;
  const Variable output = node.output();
  for (int i = 0; i < 2; ++i)
    if (is_value(node.input(i), op.identity, output.dtype())) return one(fit(node.input(1 - i), output));
  return std::nullopt;
}

// x * 0 for discrete x, x and 0, x or True; floats keep their nan.
std::optional<Variables> absorb(FunctionGraph&, const Apply& node) {
  const Variable output = node.output();
  if (is_float(output.dtype())) return std::nullopt;
  const std::string_view name = scalar_op_of(output)->name;
  for (int i = 0; i < 2; ++i) {
    const bool zero = (name == "mul" || name == "and") && is_value(node.input(i), 0, output.dtype());
    const bool all_bits = name == "or" && is_value(node.input(i), -1, output.dtype());
    if (zero) return one(fit(constant_like(0, output.dtype()), output));
    if (all_bits) return one(fit(constant(Array(std::int64_t(-1)).astype(output.dtype())), output));
  }
  return std::nullopt;
}

Variable ints() { return sample_leaf(DType::Int64, {any_length}); }

void declare_traits(Rules& rules) {
  for (const ScalarOp* op : scalar_ops()) {
    if (op->arity == 1) symmetries(rules, *op);
    if (op->arity == 2) same_operands(rules, *op);
  }
  rules.function("neutral_element", Root::traits(commutative), drop_neutral)
      .with_input(Root::number())
      .doc("Removes neutral elements: x + 0, x * 1, x and True, x or False, ... become x.")
      .tags(useless, canonicalize, specialize, "local_add_remove_zeros", "local_mul_specialize",
            "local_useless_elemwise")
      .no_signed_zeros()
      .sample([] { return sample_vector() + 0; })
      .sample([] { return 1 * sample_matrix(); })
      .sample([] { return ints() + 0.0; })
      .sample([] { return and_(sample_leaf(DType::Bool, {any_length}), constant(Array(true))); })
      .sample([] { return or_(ints(), 0); });
  rules.function("absorbing_element", Root::scalar({"mul", "and", "or"}), absorb)
      .with_input(Root::number())
      .doc("Rewrites x * 0 as 0 for integers, x and False as False, and x or True as True.")
      .tags(canonicalize, "local_mul_zero")
      .sample([] { return ints() * 0; })
      .sample([] { return and_(sample_leaf(DType::Bool, {any_length}), constant(Array(false))); })
      .sample([] { return or_(sample_leaf(DType::Bool, {any_length}), constant(Array(true))); });
}

const RegisterRules register_traits("traits", declare_traits);

}  // namespace

}  // namespace bitale::rewriting
