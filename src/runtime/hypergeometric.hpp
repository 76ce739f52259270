// The hypergeometric function 2F1(a, b; c; z) of real arguments and its derivatives by a and c, as plain C functions.
// nan beyond z = 1, where it has no real value, unless it is a polynomial or a power there.
#pragma once

extern "C" {
double bt_hyp2f1(double a, double b, double c, double z);
double bt_hyp2f1_derivative(double a, double b, double c, double z);  // by a; that by b is this with a and b exchanged
double bt_hyp2f1_derivative_by_c(double a, double b, double c, double z);  // by c
}
