// Examples of linear algebra, Fourier transforms and convolutions, for their docstrings;
// tests/python/test_ergonomics.py runs them.
#include "examples.hpp"

namespace bitale::python {

// clang-format off
const Examples& linalg_examples() {
  static const Examples examples{
    {"block_diag", R"(>>> pt.linalg.block_diag([[1.0, 2.0]], [[3.0]]).eval()
array([[1., 2., 0.],
       [0., 0., 3.]]))"},
    {"cho_solve", R"(>>> L = np.array([[2.0, 0.0], [1.0, 1.0]])
>>> pt.linalg.cho_solve((L, True), [4.0, 3.0]).eval()
array([0.5, 1. ]))"},
    {"cholesky", R"(>>> pt.linalg.cholesky([[4.0, 2.0], [2.0, 2.0]]).eval()
array([[2., 0.],
       [1., 1.]]))"},
    {"convolve1d", R"(>>> pt.signal.convolve1d([1.0, 2.0, 3.0], [1.0, 1.0]).eval()
array([1., 3., 5., 3.]))"},
    {"det", R"(>>> pt.linalg.det([[2.0, 0.0], [0.0, 4.0]]).eval()
array(8.))"},
    {"eigh", R"(>>> w, v = pt.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
>>> w.eval()
array([1., 2.]))"},
    {"eigvalsh", R"(>>> pt.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]).eval()
array([1., 3.]))"},
    {"expm", R"(>>> pt.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).eval()
array([[1., 1.],
       [0., 1.]]))"},
    {"inv", R"(>>> pt.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).eval()
array([[0.5 , 0.  ],
       [0.  , 0.25]]))"},
    {"irfft", R"(>>> pt.fft.irfft(pt.fft.rfft(np.array([[1.0, 2.0, 3.0, 4.0]]))).eval()
array([[1., 2., 3., 4.]]))"},
    {"lstsq", R"(>>> x, residuals, rank, s = pt.linalg.lstsq([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [1.0, 3.0, 5.0])
>>> x.eval().round(12)
array([1., 2.]))"},
    {"lu", R"(>>> p, l, u = pt.linalg.lu([[0.0, 2.0], [1.0, 1.0]])
>>> (p @ l @ u).eval()
array([[0., 2.],
       [1., 1.]]))"},
    {"lu_factor", R"(>>> lu, pivots = pt.linalg.lu_factor([[0.0, 2.0], [1.0, 1.0]])
>>> pivots.eval()
array([1, 1], dtype=int32))"},
    {"lu_solve", R"(>>> factors = pt.linalg.lu_factor([[0.0, 2.0], [1.0, 1.0]])
>>> pt.linalg.lu_solve(factors, [4.0, 3.0]).eval()
array([1., 2.]))"},
    {"matrix_dot", R"(>>> pt.linalg.matrix_dot([[1.0, 2.0]], [[1.0, 0.0], [0.0, 2.0]], [[1.0], [1.0]]).eval()
array([[5.]]))"},
    {"matrix_power", R"(>>> pt.linalg.matrix_power([[1.0, 1.0], [0.0, 1.0]], 3).eval()
array([[1., 3.],
       [0., 1.]]))"},
    {"norm", R"(>>> pt.linalg.norm([3.0, 4.0]).eval()
array(5.))"},
    {"pinv", R"(>>> pt.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).eval()
array([[0.5, 0. ],
       [0. , 0. ]]))"},
    {"pivot_to_permutation", R"(>>> pt.linalg.pivot_to_permutation([1, 1]).eval()
array([1, 0]))"},
    {"qr", R"(>>> q, r = pt.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
>>> (q @ r).eval().round(12)
array([[3., 1.],
       [4., 2.]]))"},
    {"qz", R"(>>> s, p, q, z = pt.linalg.qz([[1.0, 2.0], [0.0, 3.0]], [[1.0, 0.0], [0.0, 1.0]])
>>> (q @ s @ z.T).eval().round(12)
array([[1., 2.],
       [0., 3.]]))"},
    {"rfft", R"(>>> pt.fft.rfft(np.ones((1, 4))).eval()
array([[[4., 0.],
        [0., 0.],
        [0., 0.]]]))"},
    {"schur", R"(>>> upper, z = pt.linalg.schur([[1.0, 2.0], [0.0, 3.0]])
>>> upper.eval()
array([[1., 2.],
       [0., 3.]]))"},
    {"slogdet", R"(>>> sign, logabs = pt.linalg.slogdet([[-2.0, 0.0], [0.0, 1.0]])
>>> sign.eval(), logabs.eval()
(array(-1.), array(0.69314718)))"},
    {"solve", R"(>>> pt.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0]).eval()
array([1. , 0.5]))"},
    {"solve_banded", R"(>>> bands = np.array([[0.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
>>> pt.linalg.solve_banded((0, 1), bands, [3.0, 3.0, 2.0]).eval()
array([1., 1., 1.]))"},
    {"solve_continuous_are", R"(>>> pt.linalg.solve_continuous_are([[0.0]], [[1.0]], [[1.0]], [[1.0]]).eval().round(12)
array([[1.]]))"},
    {"solve_continuous_lyapunov", R"(>>> pt.linalg.solve_continuous_lyapunov([[-1.0]], [[-4.0]]).eval()
array([[2.]]))"},
    {"solve_discrete_are", R"(>>> pt.linalg.solve_discrete_are([[0.0]], [[1.0]], [[2.0]], [[1.0]]).eval()
array([[2.]]))"},
    {"solve_discrete_lyapunov", R"(>>> pt.linalg.solve_discrete_lyapunov([[0.5]], [[3.0]]).eval().round(12)
array([[4.]]))"},
    {"solve_sylvester", R"(>>> pt.linalg.solve_sylvester([[1.0]], [[3.0]], [[8.0]]).eval()
array([[2.]]))"},
    {"solve_triangular", R"(>>> pt.linalg.solve_triangular([[2.0, 0.0], [1.0, 1.0]], [2.0, 3.0], lower=True).eval()
array([1., 2.]))"},
    {"solve_tridiagonal", R"(>>> pt.linalg.solve_tridiagonal([0.0], [2.0, 2.0], [1.0], [3.0, 2.0]).eval()
array([1., 1.]))"},
    {"svd", R"(>>> u, s, vt = pt.linalg.svd([[3.0, 0.0], [0.0, 4.0]])
>>> s.eval()
array([4., 3.]))"},
    {"tensorinv", R"(>>> pt.linalg.tensorinv(2 * np.eye(4).reshape(2, 2, 2, 2)).eval().shape
(2, 2, 2, 2))"},
    {"tensorsolve", R"(>>> pt.linalg.tensorsolve(2 * np.eye(4).reshape(2, 2, 2, 2), np.ones((2, 2))).eval()
array([[0.5, 0.5],
       [0.5, 0.5]]))"},
    {"tridiagonal_lu_factor", R"(>>> factors = pt.linalg.tridiagonal_lu_factor([[2.0, 1.0], [0.0, 2.0]])
>>> pt.linalg.tridiagonal_lu_solve(factors, [3.0, 2.0]).eval()
array([1., 1.]))"},
    {"tridiagonal_lu_solve", R"(>>> factors = pt.linalg.tridiagonal_lu_factor([[2.0, 1.0], [0.0, 2.0]])
>>> pt.linalg.tridiagonal_lu_solve(factors, [2.0, 2.0]).eval()
array([0.5, 1. ]))"},
    {"xtensor_cho_solve", R"(>>> from bitale import xtensor as px
>>> a = px.as_xtensor([[4.0, 2.0], [2.0, 3.0]], dims=("row", "col"))
>>> factor = px.linalg.cholesky(a, dims=("row", "col"))
>>> px.linalg.cho_solve((factor, True), px.as_xtensor([8.0, 8.0], dims="row"), dims=("row", "col")).dims
('col',))"},
    {"xtensor_lstsq", R"(>>> from bitale import xtensor as px
>>> a = px.as_xtensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], dims=("person", "coefficient"))
>>> b = px.as_xtensor([1.0, 3.0, 5.0], dims="person")
>>> px.linalg.lstsq(a, b, dims=("person", "coefficient"))[0].values.eval().round(6)
array([1., 2.]))"},
    {"xtensor_lu", R"(>>> from bitale import xtensor as px
>>> x = px.as_xtensor([[0.0, 1.0], [2.0, 3.0]], dims=("row", "col"))
>>> p, l, u = px.linalg.lu(x, dims=("row", "col"), p_indices=True)
>>> px.dot(l.isel(pivot=p), u, dim="mode").values.eval()
array([[0., 1.],
       [2., 3.]]))"},
  };
  return examples;
}
// clang-format on

}  // namespace bitale::python
