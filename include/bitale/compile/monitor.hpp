// Modes that watch a call node by node: user functions before and after each node, and guards against nan, infinite and
// very large values. After PyTensor's MonitorMode and NanGuardMode.
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

// Reports on stderr a node that has computed a nan, with its inputs and outputs: for monitor_mode's `after`.
void detect_nan(NodeStep& step);

// A value that NanGuard rejects.
class NanGuardError : public Error {
 public:
  using Error::Error;
};

struct NanGuardOptions {
  // nullopt: as the flags NanGuardMode__nan_is_error, __inf_is_error and __big_is_error are set.
  std::optional<bool> nan_is_error = {}, inf_is_error = {}, big_is_error = {};
  std::string action = {};  // raise, or warn on stderr; "": the flag NanGuardMode__action
  // If given, called with the message instead of the action; the call then continues.
  std::function<void(const std::string& message)> report = {};
};
// The virtual machine with a check of every input, constant and result: a nan, an infinity or a magnitude above 1e10
// raises a NanGuardError that says what was found where. ValueError for another action, or when nothing is an error.
Linker nan_guard_linker(const NanGuardOptions& options = {});
Mode nan_guard_mode(const NanGuardOptions& options = {}, std::string optimizer = "fast_run");
// The options of a linker of that kind; nullopt for another linker.
std::optional<NanGuardOptions> nan_guard_options(const Linker& linker);
// Sets whether NanGuard checks the values of a variable, and of what rewriting replaces it by; by default it does
// (PyTensor's tag `nan_guard_mode_check`).
const Variable& set_nan_guarded(const Variable& variable, bool guarded);

}  // namespace bitale
