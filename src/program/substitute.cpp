#include "program/substitute.hpp"

#include "core/flat_table.hpp"

namespace bitale::program {

namespace {

Expr rebuilt(Expr expr, std::span<const Expr> arguments) {
  ExprPool& pool = expr.pool();
  if (expr.code() == Code::select) return select(arguments[0], arguments[1], arguments[2]);
  if (expr.code() == Code::cast) return cast(arguments[0], expr.dtype());
  return pool.make(expr.code(), expr.dtype(), arguments, expr.payload());
}

// What has become of expressions.
class Done {
 public:
  // Nothing where the expression is not done.
  Expr find(Expr expr) const {
    const Entry* found = entries_.find(hash_of_number(expr.id()), Is{expr.id()});
    return found ? found->value : Expr();
  }
  void insert(Expr expr, Expr value) { entries_.insert({expr.id(), value}, Is{expr.id()}); }

 private:
  struct Entry {
    std::uint32_t id = 0;
    Expr value;
    std::uint32_t hash() const { return hash_of_number(id); }
    bool is_free() const { return !value; }
  };
  struct Is {
    std::uint32_t id;
    bool operator()(const Entry& entry) const { return entry.id == id; }
  };

  FlatTable<Entry> entries_;
};

// A rebuilt expression still stands for the same function, of rebuilt arguments.
void keep_meaning(Expr before, const Done& done) {
  const ExprPool::SourceCall* meaning = before.pool().source_call(before);
  if (!meaning) return;
  std::vector<Expr> arguments;
  for (auto& argument : meaning->arguments) {
    const Expr found = done.find(argument);
    arguments.push_back(found ? found : argument);
  }
  before.pool().annotate_call(done.find(before), meaning->function, arguments);
}

}  // namespace

Expr substitute(Expr root, const Substitution& substitution) {
  if (substitution.empty() || !any_within(root, [&](Expr expr) { return substitution.count(expr.id()) != 0; }))
    return root;
  Done done;
  std::vector<Expr> stack{root}, arguments;
  while (!stack.empty()) {
    const Expr expr = stack.back();
    if (done.find(expr)) {
      stack.pop_back();
      continue;
    }
    if (auto found = substitution.find(expr.id()); found != substitution.end()) {
      done.insert(expr, found->second);
      stack.pop_back();
      continue;
    }
    arguments.clear();
    bool ready = true, changed = false;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) {
      const Expr argument = expr.argument(i);
      const Expr found = done.find(argument);
      if (!found) {
        stack.push_back(argument);
        ready = false;
      } else {
        arguments.push_back(found);
        changed |= !(found == argument);
      }
    }
    if (!ready) continue;
    done.insert(expr, changed ? rebuilt(expr, arguments) : expr);
    if (changed) keep_meaning(expr, done);
    stack.pop_back();
  }
  return done.find(root);
}

}  // namespace bitale::program
