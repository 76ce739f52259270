// Bessel functions and Owen's T function as plain C functions; values at limits and outside of domains are SciPy's.
#pragma once

extern "C" {
double bt_i0(double x);
double bt_i1(double x);
double bt_j0(double x);
double bt_j1(double x);
double bt_jv(double order, double x);   // nan for x < 0 unless the order is whole
double bt_iv(double order, double x);   // I_order(x), likewise
double bt_kv(double order, double x);   // K_order(x); inf at 0, nan for x < 0
double bt_ive(double order, double x);  // I_order(x) exp(-|x|)
double bt_kve(double order, double x);  // K_order(x) exp(x); inf at 0, nan for x < 0
double bt_ive_derivative(double order, double x);
double bt_kve_derivative(double order, double x);
double bt_owens_t(double h, double a);
double bt_ndtri_exp(double y);  // the inverse of bt_log_ndtr
}
