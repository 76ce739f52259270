// Queries about the sub-expressions of an expression, itself included, and their substitution.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "bitale/core/flat_table.hpp"
#include "bitale/program/expr.hpp"

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

using Substitution = std::unordered_map<std::uint32_t, Expr>;  // by number of an expression: its replacement
Expr substitute(Expr root, const Substitution& substitution);

// The same operation on these arguments.
Expr with_arguments(Expr expr, std::span<const Expr> arguments);

// Rebuilds expressions from their leaves up, each once: `make` is given an expression and its rebuilt arguments, and
// returns the replacement of the expression.
class Rebuild {
 public:
  using Make = std::function<Expr(Expr expr, std::span<const Expr> arguments)>;
  explicit Rebuild(Make make) : make_(std::move(make)) {}
  Expr operator()(Expr root);
  void forget() { done_ = {}; }  // clears the rebuilt expressions

 private:
  // Memoized results, by expression.
  class Done {
   public:
    // Null where the expression has not been rebuilt.
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
      bool is_free() const { return !value.defined(); }
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
