// Incomplete gamma and beta functions, their inverses, and their derivatives with respect to the parameters, as plain C
// functions.
#pragma once

extern "C" {
double bt_gammainc(double k, double x);   // P(k, x), the regularised lower one
double bt_gammaincc(double k, double x);  // Q(k, x) = 1 - P(k, x)
double bt_gammaincinv(double k, double p);
double bt_gammainccinv(double k, double q);
double bt_gammainc_derivative(double k, double x);  // dP / dk
double bt_gammainc_density(double k, double x);     // dP / dx
double bt_betainc(double a, double b, double x);    // I_x(a, b), regularised
double bt_betaincinv(double a, double b, double p);
double bt_betainc_derivative(double a, double b, double x);       // dI / da
double bt_betainc_derivative_by_b(double a, double b, double x);  // dI / db
double bt_betainc_density(double a, double b, double x);          // dI / dx
}
