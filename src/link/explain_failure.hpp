// Why a call of native code failed. Native code says the number of a check and nothing else; the node of that check,
// and what it needs, is then run again by perform, on the same inputs, and fails with all there is to say.
#pragma once

#include <span>
#include <string>

#include "bitale/core/view.hpp"
#include "link/linker.hpp"

namespace bitale::link {

struct FailedCheck {
  Apply node;  // that asked for it
  const std::string& message;
};

// Throws what the node throws. Calls don't write to their inputs, and shared variables keep their values until a call
// has succeeded, so that the second run meets what the first has met; where it doesn't fail all the same, the error
// says so, rather than describe values that may be others.
[[noreturn]] void explain_failure(const LinkedGraph& graph, const FailedCheck& check, std::span<const View> inputs);

}  // namespace bitale::link
