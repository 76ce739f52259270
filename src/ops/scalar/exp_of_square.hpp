// exp(factor x**2) in derivatives of the error function and its relatives.
#pragma once

#include "bitale/graph/variable.hpp"

namespace bitale::records {

// For a factor that is a power of two or the negative of one: to the last digits, without the rounding error of the
// square, which would be magnified by x ** 2.
Variable exp_of_square(const Variable& x, double factor);

}  // namespace bitale::records
