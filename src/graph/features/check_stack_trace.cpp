// Every change must keep provenance; this feature reports nodes that lack it.
#include <cstdio>

#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"

namespace bitale {

void CheckStackTrace::on_import(FunctionGraph&, const Apply& node, std::string_view reason) {
  if (node.provenance().where) return;
  ++missing_;
  const std::string text =
      cat("`", reason, "` brings ", node.op().label(), " without the line of the user's it is for");
  if (policy_ == Policy::Raise) throw InconsistencyError(text);
  std::fprintf(stderr, "bitale: warning: %s\n", text.c_str());
}

}  // namespace bitale
