#include "support/passes.hpp"

#include <optional>

#include "bitale/core/text.hpp"
#include "support/program_interpreter.hpp"

namespace bitale::test {

std::string pass_trouble(const FunctionGraph& graph, std::span<const Array> values, bool parallel) {
  std::optional<ProgramRun> before;
  std::string found;
  const auto observe = [&](std::string_view pass, const program::Program& program, std::span<const Apply> callbacks) {
    if (!found.empty()) return;
    try {
      const ProgramRun now = interpret(program, callbacks, values);
      if (before && before->failed_check != now.failed_check)
        found = cat("after ", pass, " another check fails\n", program::to_string(program));
      for (std::size_t i = 0; before && i < now.outputs.size() && found.empty(); ++i) {
        const Array &a = now.outputs[i], &b = before->outputs[i];
        // What threads share is added in another order, and products are contracted into the sums that are written out.
        const bool is_close_enough = pass == "share" || pass == "promote";
        const bool same = is_close_enough ? a.shape() == b.shape() && allclose(a, b, 1e-5, 1e-12) : identical(a, b);
        if (!same)
          found = cat("after ", pass, " output ", i, " is\n", a.str(), "\nnot\n", b.str(), "\n",
                      program::to_string(program));
      }
      before = now;
    } catch (const BrokenProgram& broken) {
      found = cat("after ", pass, ": ", broken.what());
    }
  };
  lowering::lower(graph, {}, parallel, observe);
  return found;
}

}  // namespace bitale::test
