// OwnError: an op whose run-time check raises an error that the user has chosen.
#pragma once

namespace bitale {

class OwnError {
 public:
  virtual ~OwnError() = default;
  [[noreturn]] virtual void raise() const = 0;
};

}  // namespace bitale
