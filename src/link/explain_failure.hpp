// Explains why a call of native code failed. Native code reports only the number of a check. The node of that check,
// and what it depends on, is therefore run again by perform on the same inputs, which raises the complete error.
#pragma once

#include <span>
#include <string>

#include "bitale/core/view.hpp"
#include "link/linker.hpp"

namespace bitale::link {

struct FailedCheck {
  Apply node;  // that requires the check
  const std::string& message;
};

// Throws what the node throws. Calls don't write to their inputs, and shared variables keep their values until a call
// has succeeded, so the second run sees the same values as the first. Where it nevertheless does not fail, the error
// says so instead of describing values that may be different ones.
[[noreturn]] void explain_failure(const LinkedGraph& graph, const FailedCheck& check, std::span<const View> inputs);

}  // namespace bitale::link
