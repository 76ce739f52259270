// Riccati's equations, for generated code and for `perform`. Matrices are C-contiguous and row-major, of real or of
// complex numbers N; ^H is the adjoint, which is the transpose for real matrices. Only the Hermitian parts of Q and R
// are used. Each function returns 0, a status as in runtime/decompositions.hpp, or 1 if there is no stabilising
// solution; a nan or an infinity in the arguments gives a result that is all nan.
#pragma once

#include <cstdint>

#include "runtime/numbers.hpp"

namespace bitale::runtime {

// The stabilising X[n, n] with X = A^H X A - A^H X B (R + B^H X B)^-1 B^H X A + Q, by doubling (Chu, Fan, Lin and Wang
// 2004); B is [n, m].
template <class N>
std::int64_t solve_discrete_are(std::int64_t n, std::int64_t m, const N* A, const N* B, const N* Q, const N* R,
                                N* X) noexcept;

// The stabilising X[n, n] with A^H X + X A - X B R^-1 B^H X + Q = 0, from the stable subspace of the Hamiltonian matrix
// (Laub 1979), and steps of Newton's method (Kleinman 1968); B is [n, m].
template <class N>
std::int64_t solve_continuous_are(std::int64_t n, std::int64_t m, const N* A, const N* B, const N* Q, const N* R,
                                  N* X) noexcept;

}  // namespace bitale::runtime
