// function() step by step: the graph, rewriting, linking, and the callable. A Mode may provide a maker of its own,
// which does a step in another way, as DebugMode does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bitale/compile/function.hpp"

namespace bitale {

namespace link {
class Thunk;
struct LinkOptions;
}  // namespace link

class FunctionMaker {
 public:
  // Checks the arguments and builds the graph. Errors are those of function().
  FunctionMaker(const Variables& inputs, const Variables& outputs, const FunctionOptions& options);
  virtual ~FunctionMaker();
  FunctionMaker(const FunctionMaker&) = delete;

  const Mode& mode() const;
  // Copies of the inputs, then of the shared variables; the outputs, then the new values of updated shared variables.
  // The graph may be changed until it is linked.
  const std::shared_ptr<FunctionGraph>& graph() const;
  // The inputs of graph() that follow the function's own.
  const Variables& shared_variables() const;
  // Which output of graph() is the new value of which input: (output, input).
  std::vector<std::pair<std::size_t, std::size_t>> updates() const;

  // Rewrites the graph as the mode says.
  void rewrite();
  // Links the graph, which must not change any more. Idempotent.
  void link();
  bool is_linked() const;
  // The callable; links if needed. Functions of one maker share code, and the shared variables that are not replaced.
  // `storage`: shared variables, and their replacements. TypeError for one of another type, ValueError for one that the
  // graph does not use or when two updates would be stored in the same. `name`: replaces the options' name. `defaults`:
  // for each input null, or the shared variable whose value is used for a View without data, read at the same moment as
  // the call's other shared variables. TypeError for one of another type.
  Function create(const Replacements& storage = {}, const std::optional<std::string>& name = {},
                  const Variables& defaults = {});

 protected:
  virtual void do_rewrite(FunctionGraph& graph, RewriteReport& report);
  virtual std::unique_ptr<link::Thunk> do_link(const std::shared_ptr<const FunctionGraph>& graph,
                                               const link::LinkOptions& options);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Creates makers; stored in a Mode.
class MakerFactory {
 public:
  virtual ~MakerFactory() = default;
  virtual std::string name() const = 0;  // for texts: "DebugMode"
  virtual std::unique_ptr<FunctionMaker> make(const Variables& inputs, const Variables& outputs,
                                              const FunctionOptions& options) const = 0;
};

// The maker that the mode requires (the mode of `options`, else the default one).
std::unique_ptr<FunctionMaker> make_maker(const Variables& inputs, const Variables& outputs,
                                          const FunctionOptions& options);

}  // namespace bitale
