// Expressions that help to find errors: values that are checked, printed, or inspected in a debugger while a compiled
// function runs. All return their values unchanged, and derivatives pass through.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/breakpoint.hpp"
#include "bitale/core/error.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale {

// ---- checks ---------------------------------------------------------------------------------------------------------

// An error of a user's check, of a class that the library does not define; the class is given by name.
class RaisedError : public Error {
 public:
  RaisedError(std::string exc_type, std::string message) : Error(std::move(message)), exc_type_(std::move(exc_type)) {}
  const std::string& exc_type() const { return exc_type_; }

 private:
  std::string exc_type_;
};

// Returns x; a call in which a condition (a scalar) does not hold raises an error. exc_type: a name such as
// "ValueError", for the library's class of that name, or for a RaisedError. TypeError for a condition that is not
// a scalar.
Variable check_and_raise(const Operand& x, const std::vector<Operand>& conditions, std::string exc_type,
                         std::string message = {});
// The same with an AssertionError.
Variable assert_op(const Operand& x, const std::vector<Operand>& conditions, std::string message = "Assert failed!");

// ---- prints ---------------------------------------------------------------------------------------------------------

struct PrintRequest {
  std::string message;
  std::vector<std::string> attrs;  // attributes of the value to print
  std::string function;            // name of the user's function that prints; "": none
  const Array& value;
};
using PrintHandler = std::function<void(const PrintRequest&)>;
// Sets what prints from now on, in any thread. An empty function restores the default, which prints to stdout, and
// supports the attributes __str__ (the value itself), shape, dtype, ndim, size and strides (NotImplementedError for
// others).
void set_print_handler(PrintHandler handler);

// Returns x, which is printed whenever a call computes it: "message attr = value", a line per attribute. Equal prints
// of one variable are merged.
Variable print(const Operand& x, std::string message = {}, std::vector<std::string> attrs = {"__str__"},
               std::string function = {});

// ---- breakpoints ----------------------------------------------------------------------------------------------------

// Returns the variables. A call in which the condition (a scalar) holds stops: the handler of set_break_handler()
// (bitale/core/breakpoint.hpp) is called, and may give the variables other values of the same shapes. TypeError for a
// condition that is not a scalar, ValueError when there is no variable.
std::vector<Variable> breakpoint(std::string name, const Operand& condition, const std::vector<Operand>& variables);

}  // namespace bitale
