#include "support/passes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/verify.hpp"
#include "support/program_interpreter.hpp"

namespace bitale::test {

namespace {

std::string different_bits(std::span<const Array> got, std::span<const Array> expected) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!identical(got[i], expected[i])) return cat("output ", i, " is\n", got[i].str(), "\nnot\n", expected[i].str());
  return {};
}

}  // namespace

std::string difference_beyond_rounding(std::span<const Array> got, std::span<const Array> expected) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i].shape() != expected[i].shape() || !allclose(got[i], expected[i], 1e-5, 1e-12))
      return cat("output ", i, " is\n", got[i].str(), "\nnot\n", expected[i].str());
  return {};
}

std::string pass_trouble(const FunctionGraph& graph, std::span<const Array> values, bool parallel,
                         const Comparison& rounded) {
  std::optional<ProgramRun> before;
  std::string found;
  const auto observe = [&](std::string_view pass, const program::Program& program, std::span<const Apply> callbacks) {
    if (!found.empty()) return;
    try {
      program::verify(program, pass == "memory" ? program::Stage::complete : program::Stage::without_memory);
      const ProgramRun now = interpret(program, callbacks, values);
      if (before && before->failed_check != now.failed_check)
        found = cat("after ", pass, " another check fails\n", program::to_string(program));
      if (before && found.empty()) {
        constexpr std::string_view rounding[] = {"lanes", "promote", "jam", "short", "parallelize"};
        const bool may_round = std::find(std::begin(rounding), std::end(rounding), pass) != std::end(rounding);
        const std::string wrong =
            may_round ? rounded(now.outputs, before->outputs) : different_bits(now.outputs, before->outputs);
        if (!wrong.empty()) found = cat("after ", pass, " ", wrong, "\n", program::to_string(program));
      }
      before = now;
    } catch (const BrokenProgram& broken) {
      found = cat("after ", pass, ": ", broken.what());
    } catch (const InternalError& broken) {
      found = cat("after ", pass, ": ", broken.what());
    }
  };
  lowering::lower(graph, {}, parallel, observe);
  return found;
}

}  // namespace bitale::test
