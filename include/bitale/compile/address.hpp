// Compiled functions as C functions of this process: addresses for samplers, optimisers and integrators that are
// written in other languages.
#pragma once

#include <string>
#include <string_view>

#include "bitale/compile/function.hpp"

namespace bitale {

// The address of a C function that calls `function`. Forms, and which functions have them (all float64):
//   value_and_grad    int f(size_t n, const double *x, double *grad, double *value, const void *user)
//                     one vector input; a scalar and a vector output, in either order
//   finite_value_and_grad
//                     the same; 3 where the vector, 4 where the scalar has come out infinite or nan
//   vector            int f(size_t n, size_t m, const double *x, double *out, const void *user)
//                     one vector input, one vector output, of m elements
//   double (double), double (double, void *)
//                     one scalar input, one scalar output
//   double (int, double *), double (int, double *, void *)
//                     n scalar inputs, or one vector input; one scalar output
// The last four are SciPy's LowLevelCallable signatures; `user` is ignored. Calls may come from many threads at once.
// An int function returns 0, or 1 after an error; the others return nan after an error. `last_address_error` gives its
// message, and the first error of each function is a warning.
// The address is valid, and keeps the function alive, until the process ends; repeated requests return the same
// address.
// ValueError for an unknown form, TypeError when the function's inputs or outputs don't match it.
void* address(const Function& function, std::string_view form);

// The last error of such a call on this thread; empty when there was none.
const std::string& last_address_error();

}  // namespace bitale
