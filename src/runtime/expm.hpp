// The exponential of matrices and its derivatives of every order along given directions, for generated code and for
// `perform`. Matrices are C-contiguous and row-major, of real or of complex numbers N. Each function returns 0, or
// no_work_memory; a nan or an infinity in the arguments gives a result that is all nan.
#pragma once

#include <cstdint>

#include "runtime/numbers.hpp"

namespace bitale::runtime {

// X = exp(A) for A[n, n].
template <class N>
std::int64_t expm(std::int64_t n, const N* A, N* X) noexcept;
// L[n, n] = the derivative of exp of order `count` at A along the directions E[count, n, n]: the coefficient of e_1 e_2
// ... in exp(A + e_1 E_1 + e_2 E_2 + ...). It is linear in each direction, whose size has no influence on rounding.
template <class N>
std::int64_t expm_derivative(std::int64_t n, std::int64_t count, const N* A, const N* E, N* L) noexcept;
inline constexpr std::int64_t max_expm_directions = 16;

// The approximants [m/m] of Pade, by their degree m, and the largest norm at which each is accurate. Up to that norm
// the backward error of the approximant, and of its derivative, is at most the unit roundoff: the sum of k |c_k| x^(k -
// 1), where c_k are the coefficients of log(exp(-x) r(x)), is (Al-Mohy and Higham 2009, SIAM J. Matrix Anal. Appl. 30,
// 1639). The limit of degree 13 is lower, for its denominator to be well conditioned.
struct PadeLimit {
  int degree;
  double norm;
};
template <class T>
inline constexpr PadeLimit pade_limits[] = {
    {3, 0.010813385777848366}, {5, 0.1998063206978949}, {7, 0.78346084729620445}, {9, 1.7824486239692788}, {13, 4.25}};
template <>
inline constexpr PadeLimit pade_limits<float>[] = {
    {3, 0.30803304184533009}, {5, 1.4825326147931447}, {7, 3.2486717552004776}};

}  // namespace bitale::runtime
