// How rewrite rules are written. An equation's two sides are ordinary expressions over pattern variables:
//
//   auto [x, y] = pattern_variables<2>();
//   rules.equation("log1p", log(1 + x), log1p(x)).tags(stabilize).more_accurate();
//
// It matches any dtype (that the rule is declared for) and rank; commutative operations match in either order. A
// rewrite that no equation expresses is a function from a node to its replacement. Topics of rules register themselves
// (RegisterRules); generic tests check every equation and every sample numerically, and check the claims.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/graph/function_graph.hpp"
#include "bitale/rewriting/passes.hpp"

namespace bitale::rewriting {

class Equation;

// ---- tags -----------------------------------------------------------------------------------------------------------
// A phase's name puts a rule into that phase. Other tags are for queries. A rule in canonicalize or useless is also
// part of fast_compile; every rule is part of fast_run unless it is tagged `opt_in`.
inline constexpr std::string_view useless = "useless", canonicalize = "canonicalize", stabilize = "stabilize",
                                  specialize = "specialize", uncanonicalize = "uncanonicalize";
inline constexpr std::string_view shape_unsafe = "shape_unsafe", unsafe = "unsafe", unsafe_nan = "unsafe_nan",
                                  domain = "domain",  // set by wider_domain() and differs_at()
    opt_in = "opt_in", symbolic_op_recognition = "symbolic_op_recognition",
                                  structural = "structural";  // does not improve stability: grad skips it

// ---- dtypes ---------------------------------------------------------------------------------------------------------
enum DTypes : std::uint32_t {  // a bit for each DTypeKind
  bools = 1,
  signed_ints = 2,
  unsigned_ints = 4,
  floats = 8,
  complexes = 16,
  integers = signed_ints | unsigned_ints,
  numbers = integers | floats,
  any_dtype = bools | numbers,
};
bool is_among(DType dtype, std::uint32_t dtypes);

// ---- roots ----------------------------------------------------------------------------------------------------------
// The nodes that a rule is tried on.
class Root {
 public:
  static Root op(std::initializer_list<std::string> names);      // Op::name()
  static Root scalar(std::initializer_list<std::string> names);  // elementwise operations, by the scalar op's name
  static Root names(std::vector<std::string> names);             // an op or a scalar op, by name; not checked
  static Root traits(std::uint32_t traits);                      // elementwise operations that have all these traits
  static Root elemwise();
  static Root any();
  // What the predicate is true of. It is asked once per kind (Op::kind()), so it must give all ops of a kind one
  // answer; what else decides is up to the rule's function. `text` describes it.
  static Root where(std::string text, std::function<bool(const Op&)> predicate);
  static Root number();  // of an input: a constant, or what may be a view of one
  bool matches(const Op& op) const;
  bool matches(const Variable& v) const;
  std::string str() const;

 private:
  enum class Kind { Op, Scalar, Either, Traits, Elemwise, Any, Where, Number } kind_ = Kind::Any;
  std::vector<std::string> names_;  // of a predicate: its text
  std::uint32_t traits_ = 0;
  std::function<bool(const Op&)> predicate_;
};

// ---- patterns -------------------------------------------------------------------------------------------------------
// A leaf that matches anything, but the same variable at every occurrence.
Variable pattern_variable(std::string name,
                          DType dtype = DType::Float64);  // the dtype only has to suit the pattern's own ops
// A leaf that matches a constant whose elements are all equal.
Variable pattern_constant(std::string name = "c");
template <int N>
std::array<Variable, N> pattern_variables() {
  constexpr std::string_view names[] = {"x", "y", "z", "u", "v", "w"};
  static_assert(N <= 6);
  std::array<Variable, N> out;
  for (int i = 0; i < N; ++i) out[std::size_t(i)] = pattern_variable(std::string(names[i]));
  return out;
}

// The match of an equation's left side with a node.
class Match {
 public:
  Match(FunctionGraph& graph, const Apply& node, const Variables& pattern, const Variables& bound)
      : graph_(graph), node_(node), pattern_(pattern), bound_(bound) {}
  const Variable& operator()(const Variable& pattern_leaf) const;  // the matched variable; KeyError
  double value(const Variable& pattern_constant) const;
  FunctionGraph& graph() const { return graph_; }
  const Apply& node() const { return node_; }

 private:
  FunctionGraph& graph_;
  const Apply& node_;
  const Variables &pattern_, &bound_;
};
using Condition = std::function<bool(const Match&)>;

// How many inputs of a node are inspected to select the rules that are tried on it.
inline constexpr std::size_t inputs_looked_at = 3;

// ---- rules ----------------------------------------------------------------------------------------------------------
// One replacement per output (a null variable leaves that output), or none.
using NodeFunction = std::function<std::optional<Variables>(FunctionGraph&, const Apply&)>;

// What a rule changes, where this may be other variables than its node's outputs: variables of the graph, each with
// what replaces it, and nodes that must have left the graph when that is done.
struct Change {
  Replacements replacements = {};
  std::vector<Apply> removed = {};
};
using ChangeFunction = std::function<std::optional<Change>(FunctionGraph&, const Apply&)>;

class Rule {
 public:
  Rule(std::string name, Root root, NodeFunction function);
  Rule(std::string name, Root root, ChangeFunction function);
  Rule(std::string name, const Variable& left, const Variable& right);
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;
  ~Rule();

  // -- declaration: each returns the rule, so that they chain --
  template <class... Tags>
  Rule& tags(const Tags&... tags) {
    (tags_.push_back(std::string(tags)), ...);
    return *this;
  }
  Rule& doc(std::string text);
  Rule& priority(int value);  // rules of higher priority are tried first on the same node; default 0
  Rule& depth(int levels);    // how many levels of nodes below its root a function looks at; default 2
  // Tries a function only on nodes that have one of these as an input.
  Rule& with_input(Root input);
  // What a graph needs before the rule is tried on it, such as a feature: called whenever rules begin to go over a
  // graph.
  Rule& needs(std::function<void(FunctionGraph&)> preparation);
  // Tries a function on nodes of complex tensors, too. Other rules are written for real numbers.
  Rule& for_complex();
  // Of equations:
  Rule& on(std::uint32_t dtypes);  // dtypes of the pattern variables; default: floats
  Rule& when(Condition condition);
  // The node that matches this part of the left side must have no other client.
  Rule& once_used(const Variable& part);
  // Claims, which the generic test checks: the right side is nearer to the exact result; is finite where the left
  // isn't; may have a zero of the other sign.
  Rule& more_accurate();
  Rule& wider_domain();
  Rule& no_signed_zeros();
  // Special values of the first leaf (inf, nan, ...) for which the sides are known, and allowed, to differ.
  Rule& differs_at(std::vector<double> values);
  // Points at which to test the claims and the equality, one value per pattern leaf in order of occurrence in the left
  // side; added to the standard ones. A pattern constant is only tried with these values (default: a few small
  // numbers).
  Rule& points(std::vector<std::vector<double>> values);
  Rule& constants(std::vector<double> values);
  // Conditions on the leaves, such as gt(x, 0), under which the equation holds: the rule's domain. Checks use no other
  // points. The rule is applied only where all conditions follow from the graph: from constants, and from the bounds of
  // functions such as exp(x), abs(x), sigmoid(x), clip(x, 1, 2), sums and products of these. The bounds are
  // mathematical: neither nan nor underflow counts. A rule with the tag `unsafe` is applied without such a proof; it
  // runs only where a query names the tag or the rule. ValueError when a condition uses a leaf that the left side
  // lacks.
  Rule& assume(Variables conditions);
  // For functions: an expression on which the rule fires, for the generic test.
  Rule& sample(std::function<Variable()> expression);

  // -- use --
  // What replaces the node's outputs, if the rule applies and changes nothing else.
  std::optional<Variables> apply(FunctionGraph& graph, const Apply& node) const;
  // What the rule changes. InconsistencyError when it does not give one variable per output.
  std::optional<Change> change(FunctionGraph& graph, const Apply& node) const;
  void prepare(FunctionGraph& graph) const;
  // Whether the rule is worth trying, judged by the node's op and by the kinds of its first inputs (RuleIndex).
  bool may_apply(const Apply& node) const;
  const std::string& name() const { return name_; }
  const Root& root() const { return root_; }
  const std::vector<std::string>& tags() const { return tags_; }
  const std::string& doc() const { return doc_; }
  int priority() const { return priority_; }
  int depth() const { return depth_; }
  const Equation* equation() const { return equation_.get(); }
  const ChangeFunction& change_function() const { return change_; }  // empty for other rules
  bool is_for_complex() const { return for_complex_; }
  const char* interned_name() const { return interned_name_; }  // lives as long as the process
  bool is_more_accurate() const { return more_accurate_; }
  bool is_wider_domain() const { return wider_domain_; }
  bool has_no_signed_zeros() const { return no_signed_zeros_; }
  const std::vector<double>& differences() const { return differences_; }
  const std::vector<std::vector<double>>& points() const { return points_; }
  const std::vector<double>& constants() const { return constants_; }
  const Variables& assumptions() const;
  const std::vector<std::function<Variable()>>& samples() const { return samples_; }
  bool has_tag(std::string_view tag) const;

  mutable std::atomic<std::uint64_t> hits{0};  // in this process

 private:
  Equation& only_equation(std::string_view what);

  std::string name_, doc_;
  Root root_;
  std::optional<Root> input_;
  NodeFunction function_;
  ChangeFunction change_;  // instead of function_
  std::function<void(FunctionGraph&)> preparation_;
  const char* interned_name_;
  std::unique_ptr<Equation> equation_;
  std::vector<std::string> tags_;
  int priority_ = 0, depth_ = 2;
  bool more_accurate_ = false, wider_domain_ = false, no_signed_zeros_ = false, for_complex_ = false;
  std::vector<std::vector<double>> points_;
  std::vector<double> constants_{2, 3, -1.5}, differences_;
  std::vector<std::function<Variable()>> samples_;
};

// A topic's rules while they are being declared.
class Rules {
 public:
  // ValueError naming the rule: the left side is a leaf, or the right side uses a leaf that the left side lacks.
  Rule& equation(std::string name, const Variable& left, const Variable& right);
  Rule& function(std::string name, Root root, NodeFunction function);
  std::vector<std::unique_ptr<Rule>> take() { return std::move(rules_); }

 private:
  std::vector<std::unique_ptr<Rule>> rules_;
};

using Topic = void (*)(Rules&);
// A topic of rules, declared when optdb is first used.
struct RegisterRules {
  RegisterRules(const char* name, Topic topic);
};

// Adds rules to optdb at run time. ValueError for a name that is taken (unless it may be overwritten) or a rule without
// a phase.
void register_rules(const std::function<void(Rules&)>& topic, Overwrite overwrite = Overwrite::No);
// Adds a rule to one phase, where queries find it by its name and exactly these tags. The same rule may be in several
// phases. ValueError for a phase that does not exist, and for a name that is taken (unless it may be overwritten).
void register_rule(std::string_view phase, std::shared_ptr<const Rule> rule, std::vector<std::string> tags,
                   Overwrite overwrite = Overwrite::No);

// ---- checking -------------------------------------------------------------------------------------------------------
// The result of checking a rule.
struct CheckReport {
  std::string rule = {};
  std::vector<std::string> failures = {};
  std::vector<std::string> notes = {};  // further remarks
  std::size_t compared = 0;             // values of both sides that were compared
  bool ok() const { return failures.empty(); }
  std::string str() const;
};
// Evaluates both sides of an equation on its dtypes (floats, integers that wrap, bool), at ordinary numbers and special
// values within its assumptions, on vectors, scalars, empty arrays, and shapes that broadcast; for a function, its
// samples before and after, on several lengths and special values. The rule must fire, keep dtype and shape, and keep
// values: where the sides differ by more than rounding, arithmetic with 450 digits decides, and where the left side is
// finite the right side must be finite too. Other differences must be declared, and declared ones must be observed.
// more_accurate is measured against exact values, and refused for operations that have no exact form. The library's own
// rules are tested with this.
CheckReport verify_rule(const Rule& rule);
CheckReport verify_rule(std::string_view registered);  // KeyError with a suggestion

// ---- for writing node functions -------------------------------------------------------------------------------------
// The value of a constant whose elements are all equal, seen through nodes that only view it (a broadcast scalar).
std::optional<double> scalar_constant(const Variable& variable);
// Whether the variable may have such a value, judged by its owner's op.
bool may_be_number(const Variable& variable);
// `value` with the type that its use as `like` needs: broadcast to like's lengths, and cast where that is lossless.
// nullopt when that is impossible.
std::optional<Variable> fit(const Variable& value, const Variable& like);
// A constant of the dtype.
Variable constant_like(double value, DType dtype);
// All lengths of a variable, one level down: in terms of its owner's inputs. Empty when its op does not know them.
Variables inferred_lengths(const Variable& variable);

}  // namespace bitale::rewriting
