// The error of a null handle that is used. Handles (Variable, Apply, Function) are null by default and after a move;
// they do not convert to bool, since `if (x > 0)` would then ask for that: `defined` tells.
#pragma once

#include "bitale/core/language.hpp"

#include "bitale/core/location.hpp"

namespace bitale {

// ValueError; `kind` names the class of the handle, `where` the line that used it, where that is known.
[[noreturn, gnu::cold]] void refuse_null_handle(const char* kind, const Location& where = {});

}  // namespace bitale
