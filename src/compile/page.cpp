#include "bitale/compile/page.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

std::string program_of(const Function& function) {
  try {
    return function.dprint("program");
  } catch (const ValueError&) {
    return {};  // the linker has no Program
  }
}

}  // namespace

Page page_of(const Function& function) {
  std::vector<std::string> names = function.output_labels();
  for (std::size_t i = 0; i < function.output_count(); ++i) names[i] = cat("output ", i);
  Page page;
  page.title = function.name().empty() ? "function" : function.name();
  page.graphs.push_back({"after rewriting", function.graph().outputs(), names, {}});
  page.graphs.push_back({"as built", function.built(), names, {}});
  page.program = program_of(function);
  return page;
}

}  // namespace bitale
