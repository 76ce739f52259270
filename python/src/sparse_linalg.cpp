// Factors of sparse matrices, for bitale.sparse.linalg.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bitale/sparse/cholesky.hpp"
#include "bitale/sparse/lu.hpp"
#include "define.hpp"
#include "named_options.hpp"
#include "sparse.hpp"

namespace bitale::python {

void bind_sparse_linalg(nb::module_& m) {
  using sparse::Cholesky;
  const auto caller = nb::call_guard<AtCaller>();
  nb::class_<Cholesky>(m, "SparseCholesky",
                       "The Cholesky factor of a symmetric sparse matrix, of which the lower triangle is read.")
      .def(nb::init<const sparse::Matrix&>(), "A"_a, caller)
      .def_prop_ro("A", &Cholesky::matrix, nb::rv_policy::copy, "The matrix.")
      .def_prop_ro("L", &Cholesky::factor,
                   "L with L @ L.T == A[order, :][:, order], or L @ L.conj().T for complex matrices, a csc matrix.")
      .def_prop_ro("order", &Cholesky::order, "The order in which rows are eliminated.")
      .def(
          "solve", [](const Cholesky& self, const Like& b) { return self.solve(as_variable(b)); }, "b"_a, caller,
          "x with A @ x == b, for a vector or the columns of a matrix.")
      .def("logdet", &Cholesky::logdet, caller, "The logarithm of the determinant.")
      .def("selected_inverse", &Cholesky::selected_inverse, caller,
           "The elements of the inverse at the positions that A stores.")
      .def(
          "sample", [](const Cholesky& self, const Like& z) { return self.sample(as_variable(z)); }, "z"_a, caller,
          "From standard normal numbers, a sample of the Gaussian with precision A and mean 0.");
  using sparse::Lu;
  nb::class_<Lu>(m, "SparseLU", "The LU factors of a general sparse matrix, by partial pivoting.")
      .def(nb::init<const sparse::Matrix&>(), "A"_a, caller)
      .def_prop_ro("A", &Lu::matrix, nb::rv_policy::copy, "The matrix, in the format csc.")
      .def_prop_ro("column_order", &Lu::column_order, "The order in which columns are eliminated.")
      .def(
          "solve",
          [](const Lu& self, const Like& b, nb::handle trans) {
            const bool is_adjoint = nb::isinstance<nb::str>(trans) && nb::cast<std::string>(trans) == "H";  // SuperLU's
            return self.solve(as_variable(b), is_adjoint ? sparse::Trans::adjoint
                                                         : sparse::Trans(as_trans(trans, "sparse: SparseLU.solve")));
          },
          "b"_a, "trans"_a.none() = 0, caller,
          "x with A @ x == b, for a vector or the columns of a matrix; with trans 1 or \"T\" A.T @ x == b, with 2, "
          "\"C\" "
          "or \"H\" A.conj().T @ x == b.")
      .def(
          "slogdet",
          [](const Lu& self) {
            const Variables both = self.slogdet();
            return nb::make_tuple(both[0], both[1]);
          },
          caller, "The sign of the determinant, and the logarithm of its absolute value.")
      .def("logdet", &Lu::logdet, caller, "The logarithm of the determinant's absolute value.");
}

}  // namespace bitale::python
