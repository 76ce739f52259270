// FullHistory: a record of the graph's changes that can be replayed in both directions.
#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"
#include "graph/change.hpp"

namespace bitale {

void FullHistory::on_commit(FunctionGraph&, const std::shared_ptr<Changes>& changes) {
  changes_.resize(position_);
  changes_.push_back(changes);
  position_ = changes_.size();
}

const std::string& FullHistory::reason(std::size_t position) const {
  if (position == 0 || position > last())
    throw IndexError(cat("full history: state ", position, " was not reached by a change; states are 0 to ", last()));
  return changes_[position - 1]->reason;
}

void FullHistory::go_to(FunctionGraph& graph, std::size_t position) {
  if (position > last())
    throw IndexError(cat("full history: there is no state ", position, "; the last one is ", last()));
  while (position_ < position) next(graph);
  while (position_ > position) previous(graph);
}

bool FullHistory::next(FunctionGraph& graph) {
  if (position_ == last()) return false;
  graph.redo(*changes_[position_]);
  ++position_;
  if (watch_) watch_(graph);
  return true;
}

bool FullHistory::previous(FunctionGraph& graph) {
  if (position_ == 0) return false;
  graph.undo(*changes_[position_ - 1]);
  --position_;
  if (watch_) watch_(graph);
  return true;
}

}  // namespace bitale
