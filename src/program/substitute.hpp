// Sub-expressions, an expression itself among its own: questions about them, and others in their place.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "core/flat_table.hpp"
#include "program/expr.hpp"

namespace bitale::program {

template <class Is>
bool any_within(Expr root, Is&& is) {
  bool found = false;
  ExprWalk()(root, [&](Expr expr) { return !(found = found || is(expr)); });
  return found;
}
inline bool contains(Expr root, Expr part) {
  return any_within(root, [&](Expr expr) { return expr == part; });
}

using Substitution = std::unordered_map<std::uint32_t, Expr>;  // what stands for an expression, by its number
Expr substitute(Expr root, const Substitution& substitution);

// The same operation on these arguments.
Expr with_arguments(Expr expr, std::span<const Expr> arguments);

// Expressions made anew from their leaves up, each once: `make` is given an expression and what its arguments have
// become, and says what it becomes.
class Rebuild {
 public:
  using Make = std::function<Expr(Expr expr, std::span<const Expr> arguments)>;
  explicit Rebuild(Make make) : make_(std::move(make)) {}
  Expr operator()(Expr root);
  void forget() { done_ = {}; }  // what expressions have become

 private:
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
  void keep_properties(Expr before, Expr after) const;

  Make make_;
  Done done_;
};

}  // namespace bitale::program
