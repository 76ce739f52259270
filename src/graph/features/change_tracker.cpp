// Tracks whether the graph has changed.
#include "bitale/graph/features.hpp"

namespace bitale {

void ChangeTracker::on_import(FunctionGraph&, const Apply&, std::string_view) {
  ++imported_;
  changed_ = true;
}

void ChangeTracker::on_prune(FunctionGraph&, const Apply&, std::string_view) { changed_ = true; }

void ChangeTracker::on_change_input(FunctionGraph&, const Client&, const Variable&, const Variable&, std::string_view) {
  changed_ = true;
}

void ChangeTracker::reset() {
  changed_ = false;
  imported_ = 0;
}

}  // namespace bitale
