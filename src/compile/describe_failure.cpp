// Formatting the tree of a failing node requires printing, on which the code that runs graphs does not depend.
#include "compile/describe_failure.hpp"

#include "bitale/core/config.hpp"
#include "bitale/graph/failing_node.hpp"
#include "bitale/printing/printing.hpp"

namespace bitale {

namespace {
constexpr int shown_levels = 12;
}  // namespace

void describe_failure(Error& error, const std::string& function) {
  if (!function.empty()) error.add("function", function);
  const Apply* node = failing_node(error);
  if (!node || config::get("exception_verbosity") == "low") return;
  DprintOptions options;
  options.depth = shown_levels;
  options.print_type = true;
  std::string tree = dprint(*node, options);
  while (tree.ends_with('\n')) tree.pop_back();
  error.add("tree", tree);
}

}  // namespace bitale
