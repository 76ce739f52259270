// The error hierarchy. Each class corresponds to one Python exception. A message says what was expected and what was
// given; context lines (which node, where it was built, what to try) are added as an error propagates.
#pragma once

#include "bitale/core/language.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace bitale {

// What an error is about, as a value that programs can query; for a node that failed, see
// bitale/graph/failing_node.hpp.
class ErrorSubject {
 public:
  virtual ~ErrorSubject() = default;
};

class Error : public std::runtime_error {
 public:
  explicit Error(std::string message) : std::runtime_error(message), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  // Appends a line "  <label>  <text>" under the message.
  Error& add(const std::string& label, const std::string& text);
  // Sets the subject, unless there is one already.
  Error& about(std::shared_ptr<const ErrorSubject> subject) {
    if (!subject_) subject_ = std::move(subject);
    return *this;
  }
  const ErrorSubject* subject() const noexcept { return subject_.get(); }  // null: unknown

 private:
  std::string message_;
  std::shared_ptr<const ErrorSubject> subject_;
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
BITALE_ERROR(AttributeError, Error)
BITALE_ERROR(AssertionError, Error)  // an assertion of the user that did not hold
BITALE_ERROR(OutOfMemoryError, Error)
BITALE_ERROR(NotImplementedError, Error)
BITALE_ERROR(InternalError, Error)           // a violated invariant of Bitale itself
BITALE_ERROR(ShapeError, ValueError)         // lengths that don't match
BITALE_ERROR(AxisError, ValueError)          // a nonexistent dimension; in Python NumPy's, an IndexError as well
BITALE_ERROR(MissingInputError, ValueError)  // a graph needs a variable that is not provided
BITALE_ERROR(UnusedInputError, ValueError)   // an input that no output depends on, or the same input twice
BITALE_ERROR(DisconnectedInputError, ValueError)
BITALE_ERROR(NullTypeGradError, TypeError)  // a gradient that is undefined or not implemented
BITALE_ERROR(GradientError, Error)          // verify_grad: analytic and numeric gradient differ
BITALE_ERROR(InconsistencyError, Error)     // a graph that can't be ordered or was broken by a rewrite
BITALE_ERROR(NotScalarConstantError, Error)

#undef BITALE_ERROR

}  // namespace bitale
