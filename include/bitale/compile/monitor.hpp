// Modes that watch a call node by node: functions of the user's before and after each, and guards against nan, infinite
// and very large values. After PyTensor's MonitorMode and NanGuardMode.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bitale/compile/mode.hpp"

namespace bitale {

// Called around each node; either may be empty.
Linker monitor_linker(NodeWrapper before, NodeWrapper after, std::string_view way = "opwise");
Mode monitor_mode(NodeWrapper before, NodeWrapper after, std::string optimizer = "fast_run");

// Says on stderr which node has first computed a nan, with its inputs and outputs: for monitor_mode's `after`.
void detect_nan(NodeStep& step);

// A value that NanGuard does not let pass.
class NanGuardError : public Error {
 public:
  using Error::Error;
};

struct NanGuardOptions {
  // nullopt: what the flags NanGuardMode__nan_is_error, __inf_is_error and __big_is_error say.
  std::optional<bool> nan_is_error = {}, inf_is_error = {}, big_is_error = {};
  std::string action = {};  // raise, or warn on stderr; "": what the flag NanGuardMode__action says
  // Called with the message in place of the action, where there is one; the call then goes on.
  std::function<void(const std::string& message)> report = {};
};
// The virtual machine with a look at every input, constant and result: a nan, an infinity or a magnitude above 1e10
// raises a NanGuardError that says what was found where. ValueError for another action, or when nothing is an error.
Linker nan_guard_linker(const NanGuardOptions& options = {});
Mode nan_guard_mode(const NanGuardOptions& options = {}, std::string optimizer = "fast_run");
// What a linker of that kind was made with; nothing for another.
std::optional<NanGuardOptions> nan_guard_options(const Linker& linker);
// Whether it is to look at the values of a variable, and of what rewriting puts in its place; as long as nobody says
// no, it does (PyTensor's tag `nan_guard_mode_check`).
const Variable& set_nan_guarded(const Variable& variable, bool guarded);

}  // namespace bitale
