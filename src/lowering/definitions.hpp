// Definitions: what is known about each variable of one graph, outer or inner, before it has loops. Implements
// Lowering, the interface that ops use. A variable is a known scalar, the contents of a buffer, or a rule from index to
// value.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bitale/ops/lowering.hpp"
#include "lowering/by_node.hpp"
#include "lowering/computation.hpp"
#include "lowering/lengths.hpp"
#include "lowering/lower.hpp"

namespace bitale::lowering {

using program::ExprPool;

// One segment of a value that consists of segments along one axis.
struct Segment {
  Expr start, extent;
  ElementRule value;
};

struct Value {
  std::vector<Expr> shape;
  Expr scalar;  // a known scalar: constant, or a variable of the program
  ElementRule rule;
  std::int64_t buffer = -1;
  int own_cost = 1;
  int cost = 1;                 // of an element, inlined inputs included
  int depth = 0;                // of inlining
  int uses = 0;                 // readers, seen through permutations
  bool expanded = false;        // some reader repeats its elements along a new axis
  bool wanted = false;          // some reader needs it in memory
  bool host_allocates = false;  // the host provides its memory
  bool reread = false;          // computing later elements reads earlier ones: nothing else may overwrite them
  Variable permuted_from;       // with `order`: this is a transposed view of that
  std::vector<int> order;
  std::vector<int> checks;  // numbers of the checks that guard the rule
  int segment_axis = 0;
  std::vector<Segment> segments;  // if there are any, `rule` selects the segment
};

class Definitions final : public Lowering {
 public:
  Definitions(const FunctionGraph& graph, Program& to, Declarations& names, InputLayouts layouts = {})
      : program(to), declare(names), graph_(graph), layouts_(std::move(layouts)) {}
  // For an inner graph (the body of a loop or a side of a branch), with the lengths of its inputs. It is defined in the
  // outer graph's Program; loads from its inputs stand for the values that the outer graph gives it (inner_loop.cpp).
  // `in_lanes`: its steps are to run with a batch in lanes.
  Definitions(const FunctionGraph& graph, Definitions& outer, std::vector<std::vector<Expr>> input_shapes,
              bool in_lanes)
      : program(outer.program),
        declare(outer.declare),
        equal_lengths(outer.equal_lengths),
        graph_(graph),
        outer_(&outer),
        input_shapes_(std::move(input_shapes)),
        in_lanes_(in_lanes),
        before_(declare.mark()) {}

  // The stages, in order.
  void define_all();
  void choose_stores();
  void build_computations();

  Program& program;
  Declarations& declare;
  Lengths equal_lengths;
  Computations computations;
  std::vector<Apply> callbacks;  // the node of each HostCall

  // The implementation of Lowering.
  ExprPool& pool() override { return *program.pool; }
  Expr in(int input, Index at) override;
  std::span<const Expr> shape_in(int input) override;
  std::span<const Expr> shape_out(int output) override;
  std::span<const Expr> lengths_of(const Variable& variable) override { return value_of(variable).shape; }
  bool same_length(Expr a, Expr b) const override { return equal_lengths.same(a, b); }
  void element(int output, ElementRule rule, int cost) override;
  void permute(int output, int input, std::span<const int> order) override;
  void scan(int output, ElementScan scan) override;
  bool scan(const InnerLoop& loop) override;
  bool choose(int condition, const Side& then, const Side& otherwise) override;
  void assemble(int output, std::optional<int> base, std::vector<Piece> pieces) override;
  void concatenate(int output, int axis, std::vector<ConcatSegment> segments) override;
  void call_each(std::string_view function, std::vector<Expr> extents, CallRule arguments) override;
  void contract(const Contraction& product) override;
  void observe() override;
  MatrixLayout matrix(int input) override;
  void require(Expr condition, std::string message) override;
  void expect(Expr condition, std::string message) override;
  void require_in_range(int input, Expr length, std::string message) override;
  Expr index_in(int input, Index at, Expr length, Sign sign) override;

 private:
  friend class LoopBody;
  bool is_computed(int input);
  void sum_products(const Contraction& product, DType dtype);
  using BuildComputations = std::function<void()>;  // run when computations are built
  struct MemoKey {
    VariableNode* variable;
    std::vector<std::uint32_t> at;
    bool operator==(const MemoKey&) const = default;
  };
  struct MemoHash {
    std::size_t operator()(const MemoKey& key) const;
  };
  // Rules are evaluated long after their node was defined: `in` must then refer to that node's inputs.
  class NodeScope {
   public:
    NodeScope(Definitions& of, ApplyNode* node) : of_(of), before_(std::exchange(of.node_, node)) {}
    ~NodeScope() { of_.node_ = before_; }

   private:
    Definitions& of_;
    ApplyNode* before_;
  };

  Value& value_of(const Variable& variable);
  void define_input(const Variable& variable, int slot);
  void define_strided(const Variable& variable, const InputLayout& layout, std::int64_t buffer);
  void define_constant(const Variable& variable, Value& value);
  void define(const Apply& node);
  void define_host_call(const Apply& node);
  void add_host_call(const Apply& node, std::vector<std::int64_t> outputs);
  bool infer_shapes(const Apply& node);
  Variables shape_variables(const Variable& variable);  // stand for its lengths in infer_shape
  Expr scalar_of(const Variable& variable);             // the int64 value of a 0-d integer expression
  bool known_at_entry(Expr expr) const;
  Expr read(const Variable& variable, Index at);
  ElementRule bound(ElementRule rule);  // to be evaluated later, for the node that is now being defined
  void want(const Variable& variable);
  Variable same_memory(Variable variable);
  std::int64_t add_buffer(const Variable& variable, program::Role role);
  std::int64_t result_buffer(const Variable& variable);  // of role output where the variable is one
  std::optional<int> take_output_slot(const Variable& variable);
  std::optional<std::int64_t> reuse_buffer(const Variable& base, const Variable& result);
  std::int64_t in_memory(const Variable& variable);
  bool counts_along(Expr index, Expr length) const;
  int new_check(std::string message);
  void add_check(Expr condition, int check);
  void require_check(Expr condition, int check);
  Declarations::Mark mark_before_inner_graph();
  void withdraw(const Declarations::Mark& behind);
  void make_check(Expr condition, int check);
  void compute_extent(const ComputedExtent& extent, std::vector<Expr>& domain);
  void define_position(Scanned& scanned, const Variable& variable);
  void guard_loads(Expr value, const std::vector<int>& checks);
  void guard_computations(std::size_t first, const std::vector<int>& checks);
  void choose(const Variable& variable);
  // Adds a computation whose value and index are given by rules, or several if it reads a value in segments.
  template <class Kind>
  void add_computation(Kind kind, const ElementRule& value, const TargetRule& target) {
    add_computation(Computation{std::move(kind)}, value, target);
  }
  void add_computation(Computation computation, const ElementRule& value, const TargetRule& target);
  void add_step(Opaque opaque) { computations.list.push_back({std::move(opaque)}); }
  void evaluate(Computation& computation, std::span<const Expr> at, const ElementRule& value, const TargetRule& target);

  // ---- functions (functions.cpp) ----
  bool is_called(const Variable& variable, const Value& value) const;
  Expr called(const Variable& variable, const Value& value, Index at);
  // An elementwise op with, per input, the number of a constant or the dtype of another expression.
  struct FunctionKey {
    std::uint32_t kind;
    std::vector<std::int64_t> inputs;
    auto operator<=>(const FunctionKey&) const = default;
  };
  struct FunctionCall {
    std::int64_t payload;
    DType dtype;
  };
  std::map<FunctionKey, FunctionCall> functions_;  // of the outermost graph: shared by all
  std::unordered_map<std::uint32_t, std::size_t>
      expensive_calls_;           // elementwise ops that are worth a store, by kind: how often
  std::vector<Expr> parameters_;  // what `in` returns while a function is being created

  // ---- values in segments (concat_segments.cpp) ----
  Expr read_segment(const Variable& variable, Index at);
  Expr counts_through(const Segment& segment, Expr position) const;
  bool split(const Computation& computation, const ElementRule& value, const TargetRule& target);
  void store_segments(const Variable& variable);
  void add_segment_computations(const Variable& variable);
  void resolve(const std::function<void()>& evaluate);
  void add_copy(const Variable& source, std::int64_t buffer);
  void add_repeated_copy(const Variable& source, const Variable& copy);

  const FunctionGraph& graph_;
  const InputLayouts layouts_;
  Definitions* const outer_ = nullptr;
  const std::vector<std::vector<Expr>> input_shapes_;
  const bool in_lanes_ = false;
  const Declarations::Mark before_ = {};  // the declarations of the Program before this graph
  ByNode<Value> values_;
  std::unordered_map<VariableNode*, std::vector<int>> output_slots_;
  std::vector<Apply> kept_;  // nodes of length expressions, kept alive
  Variables kept_leaves_;
  std::vector<Apply> nodes_;
  std::vector<ApplyNode*> definition_order_;  // nodes of the graph and of length expressions
  ByNode<std::vector<BuildComputations>> builders_;
  std::unordered_map<std::uint32_t, Variable> length_variables_;  // of lengths, by number
  std::set<std::pair<VariableNode*, std::uint32_t>> range_checks_;
  std::unordered_map<MemoKey, Expr, MemoHash> memo_;
  std::vector<int> touched_checks_;  // of the computation being built
  std::vector<std::pair<Expr, std::vector<int>>> guarded_loads_;
  std::unordered_map<ApplyNode*, std::unordered_map<int, Variable>> matrix_sources_;
  struct SegmentScope {             // the computation being built runs over one segment of an axis
    Expr whole, local;              // the index along the whole axis, and from the start of the segment
    std::vector<Segment> segments;  // of the value that required it: others with the same bounds are split alike
    std::size_t segment = 0;
  };
  struct UnresolvedRead {  // a value in segments that was read where the segment is not known
    Variable variable;
    Expr position;
  };
  std::optional<SegmentScope> segment_scope_;
  std::optional<UnresolvedRead> unresolved_read_;
  bool building_ = false;
  ApplyNode* node_ = nullptr;  // being defined, or whose rule is being evaluated
};

// The value is stored at its own index.
inline std::vector<Expr> own_index(Index at) { return {at.begin(), at.end()}; }

// The stages from definitions to the Program's steps that inner graphs run by themselves.
void make_steps(Definitions& definitions, const std::function<void(std::string_view pass)>& observe);

}  // namespace bitale::lowering
