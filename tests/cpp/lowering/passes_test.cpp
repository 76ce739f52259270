// Each pass of the lowering leaves a Program that computes what it computed before, element by element, and that stays
// within its memory: the Program after every pass is run by an interpreter, over all ops at all their samples.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "ops/registry.hpp"
#include "support/program_interpreter.hpp"

using namespace bitale;

namespace {

// What is wrong with one of the passes; nothing when all is well. The passes after "nest" change no order in which
// numbers are combined, but for the chunks of parallel loops.
std::string trouble(const FunctionGraph& graph, std::span<const Array> values, bool parallel) {
  std::optional<test::ProgramRun> before;
  std::string found;
  const auto observe = [&](std::string_view pass, const program::Program& program, std::span<const Apply> callbacks) {
    if (!found.empty()) return;
    try {
      const test::ProgramRun now = test::interpret(program, callbacks, values);
      if (before && before->failed_check != now.failed_check)
        found = cat("after ", pass, " another check fails\n", program::to_string(program));
      for (std::size_t i = 0; before && i < now.outputs.size() && found.empty(); ++i) {
        const Array &a = now.outputs[i], &b = before->outputs[i];
        const bool same = pass == "share" ? a.shape() == b.shape() && allclose(a, b, 1e-5, 1e-12) : identical(a, b);
        if (!same)
          found = cat("after ", pass, " output ", i, " is\n", a.str(), "\nnot\n", b.str(), "\n",
                      program::to_string(program));
      }
      before = now;
    } catch (const test::BrokenProgram& broken) {
      found = cat("after ", pass, ": ", broken.what());
    }
  };
  lowering::lower(graph, {}, parallel, observe);
  return found;
}

}  // namespace

TEST_CASE("each pass keeps what the programs of all ops compute") {
  for (auto& entry : op_registry())
    for (auto& sample : entry.samples()) {
      INFO(entry.name << " " << sample.note);
      const Variables outputs = sample.node.outputs();
      const FunctionGraph graph(graph_inputs(outputs), outputs);
      for (const bool parallel : {false, true}) CHECK(trouble(graph, sample.values, parallel) == "");
    }
}
