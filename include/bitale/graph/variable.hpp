// Variables and Apply nodes: the bipartite graph of an expression. Both are cheap handles (one counted pointer).
// Outputs live inside their Apply, and a handle to an output keeps the Apply alive, so there are no cycles;
// releasing the last handle of a chain of a million nodes does not recurse.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "bitale/core/location.hpp"
#include "bitale/core/null_handle.hpp"
#include "bitale/core/ref.hpp"
#include "bitale/graph/type.hpp"

namespace bitale {

class Op;
class Apply;
class Variable;
class IndexItem;   // ops/ops.hpp
class IndexItems;  // ops/ops.hpp
struct ApplyNode;
struct NodeRecord;  // what the FunctionGraph of a node stores about it
using OpRef = Ref<const Op>;
using Variables = std::vector<Variable>;

// What a leaf may hold besides its type: a Constant's data, a shared variable's container.
class LeafData : public RefCounted {
 public:
  virtual const Array* constant() const { return nullptr; }  // a Constant's data
  // The present value, if there is one.
  virtual std::optional<Array> present_value() const { return constant() ? std::optional(*constant()) : std::nullopt; }
};

// The user's notes on a variable.
struct Tag final : RefCounted {
  std::optional<Array> test_value;  // of the variable's type (test_value.hpp)
  bool is_guarded = true;           // whether NanGuardMode looks at its values (compile/monitor.hpp)
  std::shared_ptr<void> notes;      // owned by a language binding: in Python, the other attributes of `variable.tag`
};

struct ConstantData final : LeafData {
  enum class Kind : bool { Constant, Literal };
  explicit ConstantData(Array given_value, Kind kind = Kind::Constant)
      : value(std::move(given_value)), is_literal(kind == Kind::Literal) {}
  const Array value;
  const bool is_literal;  // a number without a dtype (graph/literal.hpp)
  const Array* constant() const override { return &value; }
};

// Where a node comes from: the user's line and, when it was created by a rewrite, the rule.
struct Provenance {
  Location where;
  const char* rule = nullptr;
};

struct VariableNode {
  std::atomic<std::uint32_t> count{0};  // of a leaf; an output counts on its Apply
  std::uint32_t index = 0;              // owner->outputs[index] is this
  ApplyNode* owner = nullptr;
  Type type;
  Ref<const LeafData> leaf;
  std::string name;
  Location where;  // of a leaf; an output's is its Apply's
  Ref<Tag> tag;    // null until something is noted
};

struct ApplyNode {
  std::atomic<std::uint32_t> count{0};
  std::uint32_t output_count = 0;
  OpRef op;
  Variables inputs;
  VariableNode* outputs = nullptr;  // output_count of them
  Provenance provenance;
  NodeRecord* record = nullptr;
  VariableNode only_output;  // nearly all nodes have one output: it is stored here
  std::unique_ptr<VariableNode[]> several_outputs;
};

// A handle may be null: by default, after a move, as the answer "none", and as what std::map gives for a missing key.
// `defined` tells whether it is not; `node`, `same_as` and `str` accept a null handle, all other uses raise ValueError.
// There is no conversion to bool: a choice by a symbolic condition is `switch_` or `ifelse`.
class [[nodiscard]] Variable {
 public:
  Variable() noexcept = default;
  // A new leaf.
  explicit Variable(Type type, std::string name = {});
  Variable(const Variable& other) noexcept : node_(other.node_) {
    if (node_) count().fetch_add(1, std::memory_order_relaxed);
  }
  Variable(Variable&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  Variable& operator=(Variable other) & noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  // `x[i] = y` would change nothing: set_subtensor(x, i, y) is an expression in which x[i] is y.
  void operator=(Variable other) && = delete;
  ~Variable() {
    if (node_ && count().fetch_sub(1, std::memory_order_acq_rel) == 1) discard();
  }
  // A handle to an existing node.
  static Variable of(VariableNode* node) noexcept {
    Variable out;
    out.node_ = node;
    if (node) out.count().fetch_add(1, std::memory_order_relaxed);
    return out;
  }

  bool defined() const noexcept { return node_ != nullptr; }
  const Type& type() const { return existing().type; }
  Apply owner() const;  // null for a leaf
  // nullptr for a leaf
  const Op* owner_op() const { return existing().owner ? node_->owner->op.get() : nullptr; }
  bool has_owner() const { return existing().owner != nullptr; }
  int index() const { return int(existing().index); }
  const std::string& name() const { return existing().name; }
  const Variable& set_name(std::string name) const;
  Location where() const;
  Tag& tag() const;  // created on first use
  bool is_guarded() const { return !existing().tag || node_->tag->is_guarded; }

  // For tensors; TypeError for other types.
  const TensorType& tensor() const {
    if (auto* tensor = as_tensor(existing().type)) return *tensor;
    refuse_as_tensor();
  }
  // For any type with values: the storage of a value. TypeError for other types.
  const TensorType& storage() const {
    if (auto* storage = existing().type->storage()) return *storage;
    refuse_as_tensor();
  }
  DType dtype() const { return tensor().dtype; }
  int ndim() const { return tensor().ndim(); }
  const Dims& static_shape() const { return tensor().shape; }

  bool is_constant() const { return constant() != nullptr; }
  // A Constant's data, or nullptr.
  const Array* constant() const { return existing().leaf ? node_->leaf->constant() : nullptr; }
  bool is_disconnected() const;
  bool is_null() const;  // of NullType
  const std::string& why_null() const;

  std::string str() const;  // its name, constant value, or "Op.0"

  VariableNode* node() const noexcept { return node_; }
  // Parts, by NumPy's rules: x[i], x[slice(1, n)], x[mask], x[{i, slice(1, n)}], and x(i, j) for x[{i, j}]. With
  // ops/ops.hpp, whose `subtensor` is the same.
  Variable operator[](const IndexItems& items) const;
  using Source = std::source_location;
  Variable operator()(const IndexItem& i, const IndexItem& j, Source where = Source::current()) const;
  Variable operator()(const IndexItem& i, const IndexItem& j, const IndexItem& k,
                      Source where = Source::current()) const;

  // Identity, not a symbolic comparison (that is `eq`).
  bool same_as(const Variable& other) const noexcept { return node_ == other.node_; }
  template <class T>
  friend bool operator==(const Variable&, const T&) = delete;  // eq(x, y) compares elements; x.same_as(y), identity

 private:
  std::atomic<std::uint32_t>& count() const noexcept { return node_->owner ? node_->owner->count : node_->count; }
  void discard() const noexcept;  // called when the last handle is released
  [[noreturn]] void refuse_as_tensor() const;
  VariableNode& existing() const {
    if (!node_) [[unlikely]]
      refuse_null_handle("Variable");
    return *node_;
  }

  VariableNode* node_ = nullptr;
};

class Apply {
 public:
  Apply() noexcept = default;
  // ValueError when an input is null. Where the flag compute_test_value requires it, the node is evaluated on test
  // values at once, and the constructor raises what that raises (test_value.hpp).
  Apply(OpRef op, Variables inputs, const std::vector<Type>& output_types);
  Apply(const Apply& other) noexcept : node_(other.node_) {
    if (node_) node_->count.fetch_add(1, std::memory_order_relaxed);
  }
  Apply(Apply&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  Apply& operator=(Apply other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Apply() {
    if (node_ && node_->count.fetch_sub(1, std::memory_order_acq_rel) == 1) discard(node_);
  }
  static Apply of(ApplyNode* node) noexcept {
    Apply out;
    out.node_ = node;
    if (node) node->count.fetch_add(1, std::memory_order_relaxed);
    return out;
  }

  bool defined() const noexcept { return node_ != nullptr; }
  const Op& op() const { return *existing().op; }
  const OpRef& op_ref() const { return existing().op; }
  const Variables& inputs() const { return existing().inputs; }
  // IndexError for an input or output that the node does not have.
  const Variable& input(int i) const { return inputs()[position(i, inputs().size(), "inputs")]; }
  std::size_t output_count() const { return existing().output_count; }
  Variable output(int i = 0) const { return Variable::of(&existing().outputs[position(i, output_count(), "outputs")]); }
  Variables outputs() const;
  const Provenance& provenance() const { return existing().provenance; }
  // The same op on other inputs; types are inferred anew.
  Apply with_inputs(Variables inputs) const;

  ApplyNode* node() const noexcept { return node_; }
  bool same_as(const Apply& other) const noexcept { return node_ == other.node_; }

 private:
  friend class Variable;
  static void discard(ApplyNode* node) noexcept;
  void try_node();
  [[noreturn, gnu::cold]] void refuse_position(int i, std::size_t count, const char* what) const;
  ApplyNode& existing() const {
    if (!node_) [[unlikely]]
      refuse_null_handle("Apply");
    return *node_;
  }
  std::size_t position(int i, std::size_t count, const char* what) const {
    if (std::size_t(i) >= count) [[unlikely]]
      refuse_position(i, count, what);
    return std::size_t(i);
  }

  ApplyNode* node_ = nullptr;
};

inline Apply Variable::owner() const { return Apply::of(existing().owner); }

Variable constant(const Array& value, std::string name = {});  // of a copy
Variable constant(Array&& value, std::string name = {});       // of the array itself, if it is the only owner
// A constant of any type. TypeError for a value that the type does not accept.
Variable constant_of(const Type& type, const Array& value, std::string name = {});
// The explicit non-gradients.
Variable disconnected();
Variable undefined_gradient(std::string why);

struct VariableHash {
  std::size_t operator()(const Variable& v) const noexcept { return std::hash<const void*>{}(v.node()); }
};
struct VariableEqual {
  bool operator()(const Variable& a, const Variable& b) const noexcept { return a.same_as(b); }
};

// The rule name that nodes created now carry (thread-local), set by the rewriting engine.
class RuleScope {
 public:
  explicit RuleScope(const char* rule);
  ~RuleScope();
  RuleScope(const RuleScope&) = delete;
  RuleScope& operator=(const RuleScope&) = delete;

 private:
  const char* before_;
};

}  // namespace bitale
