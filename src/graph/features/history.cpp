// History: the changes since it was attached, which can be undone.
#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"

namespace bitale {

void History::on_commit(FunctionGraph&, const std::shared_ptr<Changes>& changes) { changes_.push_back(changes); }

void History::revert(FunctionGraph& graph, std::size_t checkpoint) {
  if (checkpoint > changes_.size())
    throw ValueError(
        cat("history: there is no checkpoint ", checkpoint, "; the graph was changed ", changes_.size(), " times"));
  while (changes_.size() > checkpoint) {
    const std::shared_ptr<Changes> latest = changes_.back();
    graph.undo(*latest);
    changes_.pop_back();
  }
}

}  // namespace bitale
