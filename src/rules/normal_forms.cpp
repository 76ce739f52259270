// Normal forms of longer sums and products: a tree of products and quotients is a list of factors of the numerator and
// the denominator, a tree of sums and differences is a list of terms with coefficients. Entries that occur on both
// sides cancel, and equal terms are collected. A tree in which nothing cancels is left as it was written.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/elementwise/elemwise.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// Longer lists are not normalized: the search for equal entries compares all pairs.
constexpr std::size_t longest_list = 64;

// Whether the variable is an inner node of a larger tree of the same kind, which is normalized as a whole.
bool is_inner(const FunctionGraph& graph, const Variable& v, std::initializer_list<std::string_view> kinds) {
  const ApplyNode* user = only_user(graph, v);
  if (!user) return false;
  const ScalarOp* op = user->op->elementwise();
  if (!op || std::find(kinds.begin(), kinds.end(), op->name) == kinds.end()) return false;
  return user->outputs[0].type->is_super(*v.type());
}

const Variables& inputs_of(const Variable& v) { return v.node()->owner->inputs; }

// Only nodes that compute in the root's dtype and have no other client are decomposed: others convert their result, or
// must be computed anyway.
bool may_open(const FunctionGraph& graph, const Variable& v, const Variable& root) {
  if (!scalar_op_of(v)) return false;
  const ScalarTypes types = scalar_types(v.owner());
  if (types.compute != root.dtype() || types.out != root.dtype()) return false;
  return v.same_as(root) || graph.clients(v).size() == 1;
}

// ---- products -------------------------------------------------------------------------------------------------------

struct Factors {
  Variables above, below;
};

bool collect_factors(const FunctionGraph& graph, const Variable& root, Factors& out) {
  struct Item {
    const Variable* v;
    bool below;
  };
  SmallVector<Item, 16> open{{&root, false}};
  while (!open.empty()) {
    const Item item = open.back();
    const Variable& v = *item.v;
    open.resize(open.size() - 1);
    const bool opens = may_open(graph, v, root);
    if (opens && is_elemwise(v, "mul")) {
      open.push_back({&inputs_of(v)[1], item.below});
      open.push_back({&inputs_of(v)[0], item.below});
    } else if (opens && is_elemwise(v, "true_div")) {
      open.push_back({&inputs_of(v)[1], !item.below});
      open.push_back({&inputs_of(v)[0], item.below});
    } else if (opens && is_elemwise(v, "reciprocal")) {
      open.push_back({&inputs_of(v)[0], !item.below});
    } else {
      (item.below ? out.below : out.above).push_back(v);
    }
    if (out.above.size() + out.below.size() + open.size() > longest_list) return false;
  }
  return true;
}

bool cancel(Variables& above, Variables& below) {
  bool any = false;
  for (std::size_t i = 0; i < above.size(); ++i)
    for (std::size_t k = 0; k < below.size(); ++k) {
      if (!above[i].same_as(below[k]) || above[i].is_constant()) continue;
      above.erase(above.begin() + std::ptrdiff_t(i--));
      below.erase(below.begin() + std::ptrdiff_t(k));
      any = true;
      break;
    }
  return any;
}

bool any_depends(const Variables& list) {
  return std::any_of(list.begin(), list.end(), [](auto& v) { return depends_on_inputs(v); });
}

// Each factor is converted to the root's dtype before it is multiplied, as the root does.
Variable product_of(const Variables& factors, DType dtype) {
  Variable out;
  for (auto& factor : factors) out = out.defined() ? mul(out, cast(factor, dtype)) : cast(factor, dtype);
  return out;
}

std::optional<Variables> cancel_factors(FunctionGraph& graph, const Apply& node) {
  const Variable output = node.output();
  if (!is_float(output.dtype()) || is_inner(graph, output, {"mul", "true_div", "reciprocal"})) return std::nullopt;
  Factors factors;
  if (!collect_factors(graph, output, factors) || factors.below.empty()) return std::nullopt;
  if (!cancel(factors.above, factors.below)) return std::nullopt;
  // x / x keeps its nan.
  if (!any_depends(factors.above) && !any_depends(factors.below)) return std::nullopt;
  const Variable above = product_of(factors.above, output.dtype()), below = product_of(factors.below, output.dtype());
  if (!below.defined()) return one(fit(above, output));
  return one(fit(above.defined() ? above / below : reciprocal(below), output));
}

// ---- sums -----------------------------------------------------------------------------------------------------------

struct Term {
  Variable what;  // null: the constant term
  double coefficient = 1;
  int count = 1;  // how many terms were collected here
};

class Sum {
 public:
  explicit Sum(DType dtype) : dtype_(dtype) {}

  void add(const Variable& v, double sign) {
    if (const std::optional<double> value = scalar_constant(v)) return collect(Variable(), sign * *value);
    if (is_elemwise(v, "mul") && v.dtype() == dtype_) {
      const Apply node = v.owner();
      for (int i = 0; i < 2; ++i)
        if (const std::optional<double> c = scalar_constant(node.input(i));
            c && node.input(1 - i).dtype() == v.dtype() && same_broadcast(node.input(1 - i), v))
          return collect(node.input(1 - i), sign * *c);
    }
    collect(v, sign);
  }

  const std::vector<Term>& terms() const { return terms_; }

  // Whether terms were collected, the result still depends on the inputs, and no coefficient overflowed.
  bool is_simpler() const {
    bool collected = false;
    for (auto& term : terms_) {
      collected |= term.count > 1;
      if (!std::isfinite(term.coefficient)) return false;
    }
    auto remains = [](const Term& term) {
      return term.what.defined() && term.coefficient != 0 && depends_on_inputs(term.what);
    };
    return collected && std::any_of(terms_.begin(), terms_.end(), remains);
  }

 private:
  void collect(const Variable& what, double coefficient) {
    for (auto& term : terms_)
      if (what.defined() ? term.what.defined() && term.what.same_as(what)
                         : !term.what.defined() && is_exact_sum(term.coefficient, coefficient, dtype_)) {
        term.coefficient += coefficient;
        ++term.count;
        return;
      }
    terms_.push_back({what, coefficient});
  }

  DType dtype_;
  std::vector<Term> terms_;
};

bool collect_terms_of(const FunctionGraph& graph, const Variable& root, Sum& out) {
  struct Item {
    const Variable* v;
    double sign;
  };
  SmallVector<Item, 16> open{{&root, 1}};
  while (!open.empty()) {
    const Item item = open.back();
    const Variable& v = *item.v;
    open.resize(open.size() - 1);
    const bool opens = may_open(graph, v, root);
    const bool is_sum = opens && is_elemwise(v, "add"), is_difference = opens && is_elemwise(v, "sub");
    if (is_sum || is_difference) {
      open.push_back({&inputs_of(v)[1], is_sum ? item.sign : -item.sign});
      open.push_back({&inputs_of(v)[0], item.sign});
    } else if (opens && is_elemwise(v, "neg")) {
      open.push_back({&inputs_of(v)[0], -item.sign});
    } else {
      out.add(v, item.sign);
    }
    if (out.terms().size() + open.size() > longest_list) return false;
  }
  return true;
}

// A term is converted to the root's dtype before any arithmetic, as the root does.
Variable with_coefficient(const Term& term, double magnitude, DType dtype) {
  const Variable what = cast(term.what, dtype);
  return magnitude == 1 ? what : mul(constant_like(magnitude, dtype), what);
}

Variable sum_of(const Sum& sum, DType dtype) {
  Variable out;
  std::vector<double> numbers;  // several if their sum would be rounded
  // The sum starts with a term that needs no minus sign, if there is one.
  const Term* first = nullptr;
  for (auto& term : sum.terms())
    if (!first && term.what.defined() && term.coefficient > 0) first = &term;
  if (first) out = with_coefficient(*first, first->coefficient, dtype);
  for (auto& term : sum.terms()) {
    if (&term == first || term.coefficient == 0) continue;
    if (!term.what.defined()) {
      numbers.push_back(term.coefficient);
      continue;
    }
    const Variable part = with_coefficient(term, std::abs(term.coefficient), dtype);
    if (!out.defined())
      out = term.coefficient > 0 ? part : -part;
    else
      out = term.coefficient > 0 ? out + part : out - part;
  }
  for (double number : numbers)
    out = number > 0 ? out + constant_like(number, dtype) : out - constant_like(-number, dtype);
  return out;
}

std::optional<Variables> collect_terms(FunctionGraph& graph, const Apply& node) {
  const Variable output = node.output();
  if (!is_float(output.dtype()) || is_inner(graph, output, {"add", "sub", "neg"})) return std::nullopt;
  Sum sum(output.dtype());
  if (!collect_terms_of(graph, output, sum) || !sum.is_simpler()) return std::nullopt;
  return one(fit(sum_of(sum, output.dtype()), output));
}

Variable leaf() { return sample_vector(); }

void declare_normal_forms(Rules& rules) {
  rules.function("cancel_factors", Root::scalar({"mul", "true_div", "reciprocal"}), cancel_factors)
      .doc("Cancels factors that occur in both the numerator and the denominator of a longer product.")
      .tags(canonicalize, "local_mul_canonizer", "cancelling")
      .wider_domain()
      .sample([] {
        const Variable x = leaf(), y = leaf(), z = leaf();
        return (x * y * z) / (y * exp(x));
      })
      .sample([] {
        const Variable x = leaf(), y = leaf(), z = leaf();
        return x / (y * z) * (sin(x) * z);
      });
  rules.function("collect_terms", Root::scalar({"add", "sub", "neg"}), collect_terms)
      .doc("Collects equal terms of a longer sum, cancels opposite terms and merges constants.")
      .tags(canonicalize, "local_add_canonizer", "cancelling")
      .wider_domain()
      .sample([] {
        const Variable x = leaf(), y = leaf(), z = leaf();
        return (x + y + z) - (y - 3 * x);
      })
      .sample([] {
        const Variable x = leaf(), y = leaf();
        return (1 + x) + (y + 2.5);
      });
}

const RegisterRules register_normal_forms("normal_forms", declare_normal_forms);

}  // namespace

}  // namespace bitale::rewriting
