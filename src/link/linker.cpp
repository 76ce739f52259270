#include "link/linker.hpp"

#include <cstdio>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/generate.hpp"

namespace bitale::link {

namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Thunk> (*link)(const LinkedGraph& graph, const LinkOptions& options);
  std::string_view wanted;  // a tag of rewrites, or ""
};
// In the order in which one stands in for another that lacks what it needs. Native code plans its memory itself.
constexpr Entry linkers[] = {{"c", link_c, ""}, {"jit", link_jit, ""}, {"vm", link_vm, "inplace"}};

const Entry& entry_of(std::string_view linker) {
  for (auto& entry : linkers)
    if (entry.name == linker) return entry;
  const auto names = linker_names();
  const std::string near = closest(linker, names);
  throw ValueError(cat("there is no linker `", linker, "`; linkers are ", join(names, ", "),
                       near.empty() ? "" : cat("; did you mean `", near, "`?")));
}

}  // namespace

std::vector<Array> Thunk::run(std::span<const Array> inputs) const {
  std::vector<View> views;
  for (auto& input : inputs) views.push_back(view_of(input));
  ArrayReceiver results(0);
  run(views, results);
  return std::move(results).take();
}

std::vector<std::string> linker_names() {
  std::vector<std::string> names;
  for (auto& entry : linkers) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> wanted_rewrites(std::string_view linker) {
  const std::string_view tag = entry_of(linker).wanted;
  return tag.empty() ? std::vector<std::string>() : std::vector<std::string>{std::string(tag)};
}

std::unique_ptr<Thunk> link(std::string_view linker, const LinkedGraph& graph, const LinkOptions& options) {
  for (const Entry* entry = &entry_of(linker);; ++entry) try {
      return entry->link(graph, options);
    } catch (const codegen::MissingGenerator& error) {
      if (entry + 1 == std::end(linkers) || !config::get_bool("linker_fallback")) throw;
      std::fprintf(stderr, "bitale: warning: linker %s is used: %s\n", std::string(entry[1].name).c_str(),
                   error.what());
    }
}

}  // namespace bitale::link
