// Products in a scan's steps that become one product over all steps: accumulated outer products, and traces of vectors
// times one matrix.
#include <algorithm>

#include "bitale/ops/ops.hpp"
#include "bitale/rewriting/passes.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "rules/scan_loop.hpp"
#include "rules/signed_terms.hpp"

namespace bitale::rewriting {

namespace {

// A term that a step adds to a matrix: the outer product of two vectors. (Matrix products are as fast in the loop.)
struct OuterProduct {
  Variable left, right;
  bool is_negative = false;
};

// The variable of which v is a DimShuffle with this order, if it is one.
std::optional<Variable> rearranged_from(const Variable& v, const std::vector<int>& order) {
  const auto* op = op_as<DimShuffle>(v);
  return op && op->new_order == order ? std::optional(v.owner().input(0)) : std::nullopt;
}

Variable without_specify_shape(Variable v) {
  while (v.has_owner() && v.owner().op().name() == "SpecifyShape") v = v.owner().input(0);
  return v;
}

std::optional<OuterProduct> outer_product(const Variable& stated) {
  const Variable term = without_specify_shape(stated);
  if (!is_elemwise(term, "mul") || term.ndim() != 2) return std::nullopt;
  const Apply node = term.owner();
  for (int k = 0; k < 2; ++k) {
    const auto column = rearranged_from(node.input(k), {0, new_axis}),
               row = rearranged_from(node.input(1 - k), {new_axis, 0});
    if (column && row) return OuterProduct{*column, *row};
  }
  return std::nullopt;
}

// The terms whose sum with the state is `next`, if it is such a sum.
std::optional<std::vector<SignedTerm>> terms_added_to(const Variable& state, const Variable& next) {
  const auto nested_sum = [&](const Variable& v) {
    const Variable bare = without_specify_shape(v);
    const bool is_part = is_signed_sum(bare) && std::ranges::all_of(bare.owner().inputs(), [&](auto& input) {
                           return same_broadcast(input, state);
                         });
    return is_part ? bare : Variable();
  };
  std::vector<SignedTerm> terms = signed_terms(next, nested_sum);
  const auto is_state = [&](const SignedTerm& term) { return term.value.same_as(state); };
  const auto found = std::ranges::find_if(terms, is_state);
  if (found == terms.end() || found->is_negative) return std::nullopt;
  terms.erase(found);
  return std::ranges::none_of(terms, is_state) ? std::optional(terms) : std::nullopt;
}

// A state that accumulates outer products and that the steps do not read otherwise.
struct SumOfProducts {
  std::size_t state;
  std::vector<OuterProduct> products;
  Variable rest;  // the next value without the products; null: there are no other terms
};

// For a result with so few elements the loop is not slower: they are held in registers.
constexpr std::int64_t max_in_registers = 64;

std::optional<SumOfProducts> sum_of_products(const ScanParts& parts, std::size_t k) {
  const Variable &state = parts.states[k], &next = parts.next[k];
  if (!as_tensor(state.type()) || state.ndim() != 2 || !is_float(state.dtype())) return std::nullopt;
  const Dims& shape = state.static_shape();
  if (shape[0] != unknown_length && shape[1] != unknown_length && shape[0] * shape[1] <= max_in_registers)
    return std::nullopt;
  const auto terms = terms_added_to(state, next);
  if (!terms) return std::nullopt;
  Variables others = results_of(parts);
  others.erase(others.begin() + std::ptrdiff_t(k));
  for (auto& [term, is_negative] : *terms) others.push_back(term);
  const Variables leaves = graph_inputs(others);
  if (std::any_of(leaves.begin(), leaves.end(), [&](auto& leaf) { return leaf.same_as(state); })) return std::nullopt;
  const PointerSet changing = changing_values(parts), of_states = dependents(parts, parts.states);
  // At least one factor must already be stored for all steps: otherwise two traces would be stored instead of one
  // matrix.
  const auto is_stored = [&](const Variable& v) {
    return !of_states.contains(v.node()) || std::ranges::any_of(parts.traced, [&](auto& t) { return t.same_as(v); });
  };
  SumOfProducts out{k, {}, {}};
  Variable rest = state;
  for (auto& [term, is_negative] : *terms) {
    auto product = outer_product(term);
    if (product && term.dtype() == state.dtype() && changing.contains(product->left.node()) &&
        changing.contains(product->right.node()) && (is_stored(product->left) || is_stored(product->right))) {
      product->is_negative = is_negative;
      out.products.push_back(*product);
    } else {
      rest = is_negative ? sub(rest, term) : add(rest, term);
      out.rest = rest;
    }
  }
  if (out.products.empty() || (out.rest.defined() && !out.rest.type()->equals(*state.type()))) return std::nullopt;
  return out;
}

void push_out_products(FunctionGraph& graph, const Apply& node) {
  Loop loop = loop_of(node);
  ScanParts& parts = loop.parts;
  std::vector<SumOfProducts> found;
  for (std::size_t k = 0; k < parts.states.size(); ++k)
    if (auto sum = sum_of_products(parts, k)) found.push_back(*sum);
  if (found.empty()) return;
  struct Factors {
    std::size_t left, right;
  };
  std::vector<std::vector<Factors>> traces;
  for (auto& sum : found) {
    auto& own = traces.emplace_back();
    for (auto& product : sum.products) own.push_back({trace_of(loop, product.left), trace_of(loop, product.right)});
  }
  std::vector<Variable> initial;  // null: the state is kept for the rest of its sum
  std::vector<Variables> finals;
  for (auto sum = found.rbegin(); sum != found.rend(); ++sum) {
    const auto at = std::ptrdiff_t(sum->state);
    finals.insert(finals.begin(), loop.finals[sum->state]);
    initial.insert(initial.begin(), sum->rest.defined() ? Variable() : parts.initial[sum->state]);
    if (sum->rest.defined()) {
      parts.next[sum->state] = sum->rest;
      continue;
    }
    parts.states.erase(parts.states.begin() + at);
    parts.initial.erase(parts.initial.begin() + at);
    parts.next.erase(parts.next.begin() + at);
    loop.finals.erase(loop.finals.begin() + at);
  }
  const Variables outputs = make_scan(parts).outputs();
  const auto is_one_of = [](const Variables& list, const Variable& v) {
    return std::any_of(list.begin(), list.end(), [&](auto& each) { return each.same_as(v); });
  };
  Replacements pairs;
  for (std::size_t m = 0; m < found.size(); ++m) {
    Variable total = initial[m];
    for (std::size_t k = 0; k < loop.finals.size() && !total.defined(); ++k)
      if (is_one_of(loop.finals[k], finals[m].front())) {
        total = outputs[k];
        loop.finals[k].clear();
      }
    for (std::size_t p = 0; p < found[m].products.size(); ++p) {
      const auto [left, right] = traces[m][p];
      const Variable& columns = outputs[loop.finals.size() + left];
      const Variable product = dot(transpose(columns), outputs[loop.finals.size() + right]);
      total = found[m].products[p].is_negative ? sub(total, product) : add(total, product);
    }
    for (auto& old : finals[m])
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(total, old).value_or(total));
  }
  append_results(graph, loop, outputs, pairs);
  graph.replace_all(pairs, "scan_push_out_products");
}

// A trace of products of vectors with a matrix that is the same in all steps.
struct TracedProduct {
  std::size_t trace;
  Variable factor, matrix;  // the matrix is an outer value
  bool is_matrix_left;
};

// The product in trace k, if its vectors already have a trace.
std::optional<TracedProduct> traced_product(const ScanParts& parts, std::size_t k, const PointerSet& changing) {
  const Variable product = without_specify_shape(parts.traced[k]);
  if (!op_as<Dot>(product)) return std::nullopt;
  const Apply node = product.owner();
  Variables others = results_of(parts);
  others.erase(others.begin() + std::ptrdiff_t(parts.next.size() + k));
  if (std::ranges::any_of(toposort(others), [&](auto& each) { return each.same_as(node); })) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    const Variable &factor = node.input(i), &matrix = node.input(1 - i);
    if (!changing.contains(factor.node()) || changing.contains(matrix.node())) continue;
    if (factor.ndim() != 1 || matrix.ndim() != 2) continue;
    const auto is_factor = [&](const Variable& v) { return v.same_as(factor); };
    if (std::ranges::none_of(parts.traced, is_factor)) continue;
    return TracedProduct{k, factor, clone_replace(Variables{matrix}, parts.constants)[0], i == 1};
  }
  return std::nullopt;
}

void push_out_traced_products(FunctionGraph& graph, const Apply& node) {
  Loop loop = loop_of(node);
  ScanParts& parts = loop.parts;
  const PointerSet changing = changing_values(parts);
  std::vector<TracedProduct> found;
  for (std::size_t k = 0; k < parts.traced.size(); ++k)
    if (auto product = traced_product(parts, k, changing)) found.push_back(*product);
  if (found.empty()) return;
  std::vector<Variables> replaced;
  for (auto product = found.rbegin(); product != found.rend(); ++product) {
    const auto at = std::ptrdiff_t(product->trace);
    replaced.insert(replaced.begin(), loop.traces[product->trace]);
    parts.traced.erase(parts.traced.begin() + at);
    loop.traces.erase(loop.traces.begin() + at);
  }
  std::vector<std::size_t> factors;
  for (auto& product : found) factors.push_back(trace_of(loop, product.factor));
  const Variables outputs = make_scan(parts).outputs();
  Replacements pairs;
  for (std::size_t m = 0; m < found.size(); ++m) {
    const auto& [trace, factor, matrix, is_matrix_left] = found[m];
    const Variable& stack = outputs[loop.finals.size() + factors[m]];
    const Variable product = dot(stack, is_matrix_left ? transpose(matrix) : matrix);
    for (auto& old : replaced[m])
      if (!graph.clients(old).empty()) pairs.emplace_back(old, fit(product, old).value_or(product));
  }
  append_results(graph, loop, outputs, pairs);
  graph.replace_all(pairs, "scan_push_out_products");
}

void push_out_all_products(FunctionGraph& graph) {
  const RuleScope scope("scan_push_out_products");
  const auto each = [&](auto push_out) {
    for (const Apply& node : scans_of(graph))
      if (graph.contains(node) && !scan_op(node)->layout().has_until) push_out(graph, node);
  };
  each(push_out_products);
  each(push_out_traced_products);
}

const RegisterPasses product_passes({
    {"scan_push_out_products",
     0.28,
     {"fast_run", "scan"},
     "Rewrites outer products accumulated over steps, and traces of products with a loop-invariant matrix, as one "
     "matrix product over all steps.",
     push_out_all_products},
});

}  // namespace

}  // namespace bitale::rewriting
