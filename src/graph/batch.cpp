#include "graph/batch.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

int Batch::ndim(int input) const {
  const Variable &one = node.input(input), &many = inputs[std::size_t(input)];
  return as_tensor(one.type()) && as_tensor(many.type()) ? many.ndim() - one.ndim() : 0;
}

int Batch::ndim() const {
  int most = 0;
  for (int i = 0; i < int(inputs.size()); ++i) {
    const int gained = ndim(i);
    if (most != 0 && gained != 0 && gained != most)
      throw NotImplementedError(
          cat(node.op().label(), ": vectorize over inputs that gained ", most, " and ", gained, " dimensions"));
    most = std::max(most, gained);
  }
  return most;
}

bool Batch::any_from(int first) const {
  for (int i = first; i < int(inputs.size()); ++i)
    if (ndim(i) != 0) return true;
  return false;
}

}  // namespace bitale
