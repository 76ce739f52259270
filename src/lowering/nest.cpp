// Nests: computations become loops. A root joins an existing loop when it runs over the same extent, everything it
// needs is computed before that loop, and what it needs from inside the loop is needed at the same index. Row by row
// this gives a softmax one row loop, and a value with its gradients one loop over the data.
#include <algorithm>
#include <memory>
#include <optional>

#include "lowering/plan.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

using program::Step;
using program::Steps;

constexpr std::size_t largest_nest = 4000;  // expressions in one nest: beyond, LLVM's time grows faster than the gain
constexpr std::size_t look_back = 64;       // how many items are tried before a new loop is opened

struct Nest;
struct Item {
  std::unique_ptr<Nest> nest;  // or:
  Steps leaf;
  std::vector<int> computations;  // computed here
};
struct Nest {
  Expr index, extent;
  std::vector<program::Carry> carries;
  std::vector<Item> items;
  std::size_t size = 0;
};

// Loops of a root: domain axes whose extent is not 1.
struct Axis {
  Expr index, extent;
  bool reduced;
};

class NestBuilder {
 public:
  explicit NestBuilder(Plan& plan) : plan_(plan), writers_(plan.program.buffers.size()) {}

  void run() {
    for (int id = 0; id < int(plan_.computations.size()); ++id) {
      const Computation& root = plan_.computations[std::size_t(id)];
      if (root.is_overwritten) continue;
      find_dependencies(root);
      insert(root, id);
      if (root.step)
        if (auto* check = std::get_if<program::Check>(&root.step->what))
          if (plan_.is_expected[std::size_t(check->check)]) expected_.push_back(id);
      for (auto buffer : root.writes) writers_[std::size_t(buffer)].push_back(id);
      if (root.buffer >= 0) writers_[std::size_t(root.buffer)].push_back(id);
      if (root.var) producers_[root.var.payload()] = id;
      if (root.place_var) producers_[root.place_var.payload()] = id;
      for (auto& var : root.vars) producers_[var.payload()] = id;
      for (int dependency : touched_) depends_[std::size_t(dependency)] = false;
    }
    Steps& steps = plan_.program.steps;
    steps = std::move(plan_.entry_checks);
    for (auto& item : top_) append(steps, item);
  }

 private:
  void depend_on(int id) {
    if (id < 0 || depends_[std::size_t(id)]) return;
    depends_[std::size_t(id)] = true;
    touched_.push_back(id);
  }
  void depend_on_writers(std::int64_t buffer) {
    for (int id : writers_[std::size_t(buffer)]) depend_on(id);
  }

  // Loads, lengths and variables in the root's expressions say which computations come before it.
  void find_dependencies(const Computation& root) {
    depends_.resize(plan_.computations.size(), false);
    touched_.clear();
    loads_.clear();
    size_ = 0;
    program::ExprWalk walk;
    const auto look_at = [&](Expr root_expr) {
      walk(root_expr, [&](Expr expr) {
        ++size_;
        switch (expr.code()) {
          case program::Code::load:
            loads_.push_back(expr);
            depend_on_writers(expr.payload());
            if (auto guards = plan_.load_guards.find(expr.id()); guards != plan_.load_guards.end())
              for (int token : guards->second) depend_on(plan_.check_computations[std::size_t(token)]);
            break;
          case program::Code::dim: depend_on_writers(expr.payload() >> 8); break;
          case program::Code::var:
            if (auto found = producers_.find(expr.payload()); found != producers_.end()) depend_on(found->second);
            break;
          default: break;
        }
      });
    };
    for (auto& length : root.domain) look_at(length);
    for (auto& place : root.at) look_at(place);
    if (root.value) look_at(root.value);
    if (root.place) look_at(root.place);
    // A buffer is allocated before its first use: its lengths come before whatever writes it.
    const auto look_at_lengths = [&](std::int64_t buffer) {
      if (buffer < 0) return;
      for (auto& length : plan_.program.buffers[std::size_t(buffer)].shape) look_at(length);
    };
    look_at_lengths(root.buffer);
    look_at_lengths(root.extremes);
    for (auto buffer : root.writes) look_at_lengths(buffer);
    if (root.step) program::for_each_expr_within(*root.step, look_at);
    for (auto buffer : root.reads) depend_on_writers(buffer);
    if (root.buffer >= 0)
      for (int id : writers_[std::size_t(root.buffer)])
        if (!are_apart(plan_, root, plan_.computations[std::size_t(id)])) depend_on(id);
    for (int token : root.checks) depend_on(plan_.check_computations[std::size_t(token)]);
    if (!expected_.empty() && must_wait(root))
      for (int id : expected_) depend_on(id);
  }

  // For checks that loops don't wait for, but calls and memory do.
  static bool must_wait(const Computation& root) {
    if (root.kind == Computation::Kind::step) return true;
    if (root.kind == Computation::Kind::scalar) return false;
    bool known = true;  // the lengths, before anything is computed
    program::ExprWalk walk;
    for (auto& length : root.domain)
      walk(length,
           [&](Expr expr) { known &= expr.code() != program::Code::load && expr.code() != program::Code::var; });
    return !known;
  }

  // The present root reads and overwrites what `other` writes only at the index of this loop.
  bool same_place(const Computation& root, int other_id, Expr index) const {
    const Computation& other = plan_.computations[std::size_t(other_id)];
    if (other.buffer < 0 || (other.kind == Computation::Kind::store && other.combiner)) return false;
    const auto place = std::find(other.at.begin(), other.at.end(), index);
    if (place == other.at.end()) return false;
    const auto position = std::size_t(place - other.at.begin());
    if (root.buffer == other.buffer && !(root.at[position] == index)) return false;
    return std::all_of(loads_.begin(), loads_.end(),
                       [&](Expr load) { return load.payload() != other.buffer || load.argument(position) == index; });
  }

  bool needs(const Item& item) const {
    return std::any_of(item.computations.begin(), item.computations.end(),
                       [&](int id) { return depends_[std::size_t(id)]; });
  }

  bool can_join(const Item& item, const Computation& root, const Axis& axis) const {
    if (!item.nest) return false;
    if (!(item.nest->extent == axis.extent) || !(item.nest->index == axis.index)) return false;
    if (item.nest->size + size_ > largest_nest) return false;
    return std::all_of(item.computations.begin(), item.computations.end(),
                       [&](int id) { return !depends_[std::size_t(id)] || same_place(root, id, axis.index); });
  }

  // The first position in `list` behind all that the root needs; not among items too far back to be worth a look.
  std::size_t earliest(const std::vector<Item>& list) const {
    std::size_t i = list.size();
    while (i > 0 && list.size() - i < look_back && !needs(list[i - 1])) --i;
    return i;
  }

  // The position in `list` of the loop that the root shares, or of a new one. Loops open as early as they can, so that
  // what follows finds them done.
  std::size_t place(std::vector<Item>& list, const Computation& root, const Axis& axis) {
    const std::size_t start = earliest(list);
    const std::size_t first = start > 0 && can_join(list[start - 1], root, axis) ? start - 1 : start;
    for (std::size_t i = first; i < list.size(); ++i)
      if (can_join(list[i], root, axis)) return i;
    Item item;
    item.nest = std::make_unique<Nest>();
    item.nest->index = axis.index;
    item.nest->extent = axis.extent;
    const std::size_t position = past_leaves(list, start);
    list.insert(list.begin() + std::ptrdiff_t(position), std::move(item));
    return position;
  }

  // What is not a loop is never in the way, and stays in the order it came.
  static std::size_t past_leaves(const std::vector<Item>& list, std::size_t position) {
    while (position < list.size() && !list[position].nest) ++position;
    return position;
  }

  static void add_leaf(std::vector<Item>& list, std::size_t position, Step step, int id) {
    Item item;
    item.leaf.push_back(std::move(step));
    item.computations.push_back(id);
    list.insert(list.begin() + std::ptrdiff_t(position), std::move(item));
  }
  void add_leaf(std::vector<Item>& list, Step step, int id) const {
    add_leaf(list, past_leaves(list, earliest(list)), std::move(step), id);
  }

  void insert(const Computation& root, int id) {
    if (root.kind == Computation::Kind::step) return add_leaf(top_, top_.size(), *root.step, id);
    std::vector<Axis> axes;
    for (std::size_t k = 0; k < root.domain.size(); ++k)
      if (!root.domain[k].is_constant(1))
        axes.push_back({root.indices[k], root.domain[k], !root.reduced.empty() && root.reduced[k]});
    // Trailing reduced axes accumulate in a register; reduced axes before them in memory.
    const bool running = root.kind == Computation::Kind::accumulate;
    std::size_t suffix = axes.size() - std::size_t(running);
    while (!running && suffix > 0 && axes[suffix - 1].reduced) --suffix;
    const bool in_register = suffix < axes.size();
    const bool in_memory =
        std::any_of(axes.begin(), axes.begin() + std::ptrdiff_t(suffix), [](const Axis& a) { return a.reduced; });

    std::vector<Item>* list = &top_;
    std::vector<Item>* finish_list = nullptr;
    std::size_t finish_at = 0;
    for (std::size_t depth = 0; depth < axes.size(); ++depth) {
      std::size_t position = place(*list, root, axes[depth]);
      if (depth == suffix) {
        finish_list = list;
        finish_at = position + 1;
      }
      if (in_memory && depth == 0) {
        Item fill;  // before the loop it accumulates in, which may be an older one
        fill.leaf = starts(root);
        list->insert(list->begin() + std::ptrdiff_t(position++), std::move(fill));
        ++finish_at;
      }
      Item& item = (*list)[position];
      item.computations.push_back(id);
      item.nest->size += size_;
      if (in_register && depth == suffix) {
        item.nest->carries.push_back({root.var, *root.combiner, running});
        if (root.place_var) item.nest->carries.push_back({root.place_var, Combiner::add});
      }
      list = &item.nest->items;
    }
    if (in_register)
      add_leaf(*list, Step{program::Update{root.var, *root.combiner, root.value, root.place_var, root.place}}, id);
    if (in_memory && root.place_var) return add_located(*list, root, id);
    if (auto step = finish(root, in_register, in_memory)) {
      if (in_register && !running)
        add_leaf(*finish_list, past_leaves(*finish_list, finish_at), std::move(*step), id);
      else
        add_leaf(*list, std::move(*step), id);
    }
  }

  // What the buffers that a root accumulates in start as.
  Steps starts(const Computation& root) const {
    const auto fill = [&](std::int64_t buffer, Combiner combiner) {
      const DType dtype = plan_.program.buffers[std::size_t(buffer)].dtype;
      return Step{program::Fill{buffer, program::identity(combiner, *plan_.program.pool, dtype)}};
    };
    if (root.place_var) return {fill(root.buffer, Combiner::add), fill(root.extremes, *root.combiner)};
    if (root.is_segment) return {fill_segment(root)};
    return {fill(root.buffer, *root.combiner)};
  }

  // Stores the identity where the root writes: the rest of the buffer belongs to other computations.
  Step fill_segment(const Computation& root) const {
    const Expr identity = program::identity(*root.combiner, *plan_.program.pool, buffer_dtype(root));
    Step step{program::Store{root.buffer, root.at, identity}};
    for (std::size_t k = root.domain.size(); k-- > 0;)
      if (!root.reduced[k] && !root.domain[k].is_constant(1))
        step = Step{program::Loop{root.indices[k], root.domain[k], {}, {std::move(step)}, false}};
    return step;
  }

  void add_located(std::vector<Item>& list, const Computation& root, int id) const {
    program::ExprPool& pool = *plan_.program.pool;
    const Expr best = pool.load(root.extremes, root.value.dtype(), root.at);
    const Expr place = pool.load(root.buffer, DType::Int64, root.at);
    const Expr taken = program::more_extreme(*root.combiner, root.value, best);
    add_leaf(list, Step{program::Store{root.buffer, root.at, select(taken, root.place, place)}}, id);
    add_leaf(list, Step{program::Store{root.extremes, root.at, select(taken, root.value, best)}}, id);
  }

  // What is left to do with the value; nothing for a variable that its loop has made.
  std::optional<Step> finish(const Computation& root, bool in_register, bool in_memory) const {
    const bool accumulates = root.combiner && root.kind == Computation::Kind::store;
    const Expr result = !in_register ? root.value : root.place_var ? root.place_var : root.var;
    if (in_memory)
      return Step{program::Accumulate{root.buffer, root.at, *root.combiner, program::cast(result, buffer_dtype(root))}};
    if (root.buffer < 0) return in_register ? std::nullopt : std::optional(Step{program::Let{root.var, root.value}});
    if (accumulates) return Step{program::Accumulate{root.buffer, root.at, *root.combiner, root.value}};
    return Step{program::Store{root.buffer, root.at, program::cast(result, buffer_dtype(root))}};
  }

  DType buffer_dtype(const Computation& root) const { return plan_.program.buffers[std::size_t(root.buffer)].dtype; }

  // Nesting is as deep as arrays have dimensions.
  static void append(Steps& steps, Item& item) {
    if (!item.nest) {
      for (auto& step : item.leaf) steps.push_back(std::move(step));
      return;
    }
    program::Loop loop{item.nest->index, item.nest->extent, std::move(item.nest->carries), {}, false};
    for (auto& inner : item.nest->items) append(loop.body, inner);
    steps.push_back({std::move(loop)});
  }

  Plan& plan_;
  std::vector<Item> top_;
  std::vector<std::vector<int>> writers_;            // buffer -> computations
  std::unordered_map<std::int64_t, int> producers_;  // var -> root
  std::vector<int> expected_;                        // checks that loops don't wait for
  // Of the root being inserted:
  std::vector<bool> depends_;
  std::vector<int> touched_;
  std::vector<Expr> loads_;
  std::size_t size_ = 0;
};

}  // namespace

void build_nests(Plan& plan) { NestBuilder(plan).run(); }

}  // namespace bitale::lowering
