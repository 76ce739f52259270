// The error hierarchy. Each class corresponds to one Python exception. A message says what was expected and what
// came; context lines (which node, where it was built, what to try) are added as an error travels up.
#pragma once

#include <stdexcept>
#include <string>

namespace bitale {

class Error : public std::runtime_error {
 public:
  explicit Error(std::string message) : std::runtime_error(message), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  // Appends a line "  <label>  <text>" under the message.
  Error& add(const std::string& label, const std::string& text);

 private:
  std::string message_;
};

#define BITALE_ERROR(Name, Base)                                     \
  class Name : public Base {                                         \
   public:                                                           \
    explicit Name(std::string message) : Base(std::move(message)) {} \
  };

BITALE_ERROR(TypeError, Error)
BITALE_ERROR(ValueError, Error)
BITALE_ERROR(IndexError, Error)
BITALE_ERROR(KeyError, Error)
BITALE_ERROR(OutOfMemoryError, Error)
BITALE_ERROR(NotImplementedError, Error)
BITALE_ERROR(InternalError, Error)           // a broken promise of Bitale itself
BITALE_ERROR(ShapeError, ValueError)         // lengths that don't fit
BITALE_ERROR(MissingInputError, ValueError)  // a graph needs a variable that nobody provides
BITALE_ERROR(UnusedInputError, ValueError)   // an input that no output depends on, or the same input twice
BITALE_ERROR(DisconnectedInputError, ValueError)
BITALE_ERROR(NullTypeGradError, TypeError)  // a gradient that is undefined or not implemented
BITALE_ERROR(GradientError, Error)          // verify_grad: analytic and numeric gradient differ
BITALE_ERROR(InconsistencyError, Error)     // a graph that can't be ordered or was broken by a rewrite
BITALE_ERROR(NotScalarConstantError, Error)

#undef BITALE_ERROR

}  // namespace bitale
