// Sparse matrices, for bitale.sparse. The package's Python files have the names of PyTensor, and convert SciPy's
// matrices; everything that builds expressions is here.
#include "sparse.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/segments.hpp"
#include "bitale/sparse/functions.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "named_options.hpp"
#include "numpy_bridge.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/option_names.hpp"

namespace bitale::python {

using sparse::Matrix;

const Matrix* matrix_in(nb::handle object) {
  return nb::isinstance<Matrix>(object) ? nb::inst_ptr<Matrix>(object) : nullptr;
}

namespace {

nb::object left_to_the_other() { return nb::borrow(Py_NotImplemented); }

// The elements, which a call checks to be as many as are stored where that is not known.
Variable one_for_each(const sparse::Pattern& pattern, const Variable& data) {
  if (data.ndim() != 1 || is_same_length(length_of(data, 0), pattern.count())) return data;
  if (known_integer(length_of(data, 0)) && known_integer(pattern.count())) return data;  // compared at once
  return specify_shape(data, {{Operand(pattern.count())}});
}

Matrix sparse_of_vectors(const std::string& format, const Like& data, const Like& indices, const Like& indptr,
                         const Like& rows, const Like& columns, bool checked, const std::string& name) {
  const auto of = sparse::format_of(format);
  const Variable values = as_variable(data), at = as_variable(indices), bounds = as_variable(indptr),
                 height = as_variable(rows), width = as_variable(columns);
  if (!checked) return Matrix(sparse::Pattern::unchecked(of, at, bounds, height, width), values, name);
  const sparse::Pattern pattern(of, at, bounds, height, width);
  return Matrix(pattern, one_for_each(pattern, values), name);
}

// x * A and A * x: elements of the same pattern, or a dense factor that broadcasts.
nb::object elementwise_product(const Matrix& a, nb::handle other) {
  if (const Matrix* b = matrix_in(other)) return nb::cast(sparse::mul(a, *b));
  const auto x = try_as_variable(other);
  return x ? nb::cast(sparse::mul(a, Operand(*x))) : left_to_the_other();
}

// A dense operand of a sum or a difference; none leaves the operator to the other side.
std::optional<Operand> dense_term(nb::handle other) {
  const auto x = try_as_variable(other);
  if (!x) return {};
  if (x->ndim() == 0)
    throw TypeError(
        "sparse: a sparse matrix plus a scalar is dense: write A.todense() + x, or sparse.structured_add(A, x), which "
        "adds to the stored elements only");
  return Operand(*x);
}

nb::object sum_of(const Matrix& a, nb::handle other) {
  if (const Matrix* b = matrix_in(other)) return nb::cast(sparse::add(a, *b));
  const auto x = dense_term(other);
  return x ? wrap(sparse::add(a, *x)) : left_to_the_other();
}

nb::object matrix_product(const Matrix& a, nb::handle other) {
  if (const Matrix* b = matrix_in(other)) return nb::cast(sparse::dot(a, *b));
  const auto x = try_as_variable(other);
  return x ? wrap(sparse::dot(a, Operand(*x))) : left_to_the_other();
}

void bind_operators_of(nb::class_<Matrix>& cls) {
  const auto caller = nb::call_guard<AtCaller>();
  const auto op = nb::is_operator();
  cls.def("__add__", sum_of, caller, op)
      .def("__radd__", sum_of, caller, op)
      .def("__mul__", elementwise_product, caller, op)
      .def("__rmul__", elementwise_product, caller, op)
      .def("__matmul__", matrix_product, caller, op)
      .def(
          "__sub__",
          [](const Matrix& a, nb::handle other) -> nb::object {
            if (const Matrix* b = matrix_in(other)) return nb::cast(sparse::sub(a, *b));
            const auto x = dense_term(other);
            return x ? wrap(sparse::sub(a, *x)) : left_to_the_other();
          },
          caller, op)
      .def(
          "__rsub__",
          [](const Matrix& a, nb::handle other) -> nb::object {
            if (const Matrix* b = matrix_in(other)) return nb::cast(sparse::sub(*b, a));
            const auto x = dense_term(other);
            return x ? wrap(sparse::sub(*x, a)) : left_to_the_other();
          },
          caller, op)
      .def(
          "__truediv__",
          [](const Matrix& a, nb::handle other) -> nb::object {
            if (matrix_in(other))
              throw TypeError(
                  "sparse: a quotient of sparse matrices has 0 / 0 where neither stores an element: write "
                  "A.todense() / B.todense()");
            const auto x = try_as_variable(other);
            return x ? nb::cast(sparse::true_div(a, Operand(*x))) : left_to_the_other();
          },
          caller, op)
      .def(
          "__rmatmul__",
          [](const Matrix& a, nb::handle other) {
            const auto x = try_as_variable(other);
            return x ? wrap(sparse::dot(Operand(*x), a)) : left_to_the_other();
          },
          caller, op)
      .def(
          "__neg__", [](const Matrix& a) { return a.with_data(-a.data()); }, caller)
      .def(
          "__abs__", [](const Matrix& a) { return a.with_data(abs(a.data())); }, caller);
}

void bind_matrix(nb::module_& m) {
  const auto caller = nb::call_guard<AtCaller>();
  nb::class_<Matrix> cls(m, "SparseVariable",
                         "A sparse matrix in an expression: data, a vector of its stored elements, and their indices, "
                         "indices and indptr as in SciPy's csr and csc matrices. These are ordinary variables.");
  cls.def_prop_ro("data", &Matrix::data, "The stored elements.")
      .def_prop_ro(
          "indices", [](const Matrix& a) { return a.pattern().indices(); },
          "The position of each stored element in its compressed row or column.")
      .def_prop_ro(
          "indptr", [](const Matrix& a) { return a.pattern().indptr(); },
          "Where each compressed row or column begins, and where the last one ends.")
      .def_prop_ro("format", [](const Matrix& a) { return std::string(sparse::format_name(a.format())); })
      .def_prop_ro("dtype", [](const Matrix& a) { return std::string(dtype_name(a.dtype())); })
      .def_prop_ro("ndim", [](const Matrix&) { return 2; })
      .def_prop_ro("name",
                   [](const Matrix& a) -> std::optional<std::string> {
                     if (a.name().empty()) return {};
                     return a.name();
                   })
      .def_prop_ro(
          "is_static", [](const Matrix& a) { return a.pattern().is_static(); },
          "Whether the indices are known while expressions are built.")
      .def_prop_ro(
          "lengths",
          [](const Matrix& a) {
            return Variables{a.length(0), a.length(1)};
          },
          "How many rows and columns there are: two int64 scalars.")
      .def_prop_ro(
          "static_shape", [](const Matrix& a) { return static_shape_tuple(a.pattern().static_shape()); },
          nb::sig("def static_shape(self) -> tuple[int | None, int | None]"),
          "How many rows and columns there are, where that is known; else None.")
      .def(
          "position", [](const Matrix& a, int axis) { return a.pattern().position(axis != 0); }, "axis"_a,
          "The row (axis 0) or the column (axis 1) of each stored element.")
      .def_prop_ro("T", &Matrix::transpose, "The transpose; a csr matrix becomes a csc matrix of the same vectors.")
      .def(
          "with_data",
          [](const Matrix& a, const Like& data) { return a.with_data(one_for_each(a.pattern(), as_variable(data))); },
          "data"_a, caller, "A matrix with other elements and the same pattern.")
      .def(
          "to", [](const Matrix& a, const std::string& format) { return a.to(sparse::format_of(format)); }, "format"_a,
          caller, "The same matrix in the format \"csr\" or \"csc\".")
      .def(
          "tocsr", [](const Matrix& a) { return a.to(sparse::Format::csr); }, caller)
      .def(
          "tocsc", [](const Matrix& a) { return a.to(sparse::Format::csc); }, caller)
      .def("todense", sparse::to_dense, caller, "The dense matrix.")
      .def("toarray", sparse::to_dense, caller, "The same as todense().")
      .def("transpose", &Matrix::transpose, "The same as T.")
      .def(
          "astype",
          [](const Matrix& a, const DTypeLike& dtype) { return a.with_data(cast(a.data(), dtype_from(dtype))); },
          "dtype"_a, caller, "The same matrix with elements of another dtype.")
      .def(
          "sum", [](const Matrix& a, std::optional<int> axis) { return sparse::sum(a, axis); }, "axis"_a = nb::none(),
          caller, "The sum of all elements, of each column (axis 0) or of each row (axis 1).")
      .def("diagonal", sparse::diag, caller, "The elements on the diagonal, a vector.")
      .def(
          "dot", [](const Matrix& a, nb::handle other) { return matrix_product(a, other); }, "other"_a, caller,
          "The matrix product with a vector or a matrix, dense or sparse: a @ other.")
      .def("multiply", elementwise_product, "other"_a, caller, "The elementwise product.")
      .def_prop_ro(
          "nnz", [](const Matrix& a) { return a.pattern().count(); }, "How many elements are stored.")
      .def_prop_ro(
          "shape",
          [](const Matrix& a) {
            return make_vector({a.length(0), a.length(1)}, DType::Int64);
          },
          "How many rows and columns there are: an int64 vector.")
      .def(
          "same_pattern", [](const Matrix& a, const Matrix& b) { return a.pattern().same_as(b.pattern()); }, "other"_a)
      .def("__repr__", &Matrix::str);
  bind_operators_of(cls);
  cls.attr("__array_ufunc__") = nb::none();  // NumPy's operators let this class compute
  cls.attr("__hash__") = nb::module_::import_("builtins").attr("object").attr("__hash__");
}

void bind_functions(nb::module_& m) {
  const auto caller = nb::call_guard<AtCaller>();
  m.def("sparse_matrix", sparse_of_vectors, "format"_a, "data"_a, "indices"_a, "indptr"_a, "rows"_a, "columns"_a,
        "checked"_a = true, "name"_a = "", caller, "A sparse matrix of these vectors.");
  m.def("sparse_to_dense", sparse::to_dense, "a"_a, caller);
  m.def(
      "sparse_from_dense",
      [](const Like& x, const std::string& format) {
        return sparse::from_dense(as_variable(x), sparse::format_of(format));
      },
      "x"_a, "format"_a, caller);
  m.def(
      "sparse_dot", [](const Matrix& a, nb::handle other) { return matrix_product(a, other); }, "a"_a, "b"_a, caller);
  m.def(
      "sparse_sampling_dot",
      [](const Like& x, const Like& y, const Matrix& p) {
        return sparse::sampling_dot(as_variable(x), as_variable(y), p);
      },
      "x"_a, "y"_a, "p"_a, caller);
  m.def(
      "sparse_sum", [](const Matrix& a, std::optional<int> axis) { return sparse::sum(a, axis); }, "a"_a,
      "axis"_a = nb::none(), caller);
  m.def("sparse_diag", sparse::diag, "a"_a, caller);
  m.def(
      "sparse_square_diagonal", [](const Like& x) { return sparse::square_diagonal(as_variable(x)); }, "x"_a, caller);
  m.def(
      "sparse_values_at", [](const Matrix& a, const Like& x) { return sparse::values_at(a.pattern(), as_variable(x)); },
      "a"_a, "x"_a, caller, "x, which broadcasts to the matrix, at the stored elements.");
  m.def(
      "sparse_aligned",
      [](const Matrix& a, const Matrix& b, const std::string& who) {
        const sparse::Aligned both = sparse::aligned(a, b, who);
        return std::vector<Matrix>{Matrix(both.pattern, both.a), Matrix(both.pattern, both.b)};
      },
      "a"_a, "b"_a, "who"_a, caller, "Both matrices with the elements that either stores.");
  m.def(
      "sparse_block",
      [](const nb::list& rows, const std::string& format) {
        std::vector<std::vector<std::optional<Matrix>>> blocks;
        for (nb::handle row : rows) {
          auto& own = blocks.emplace_back();
          for (nb::handle each : nb::borrow<nb::list>(row)) {
            const Matrix* matrix = matrix_in(each);
            own.push_back(matrix ? std::optional(*matrix) : std::nullopt);
          }
        }
        return sparse::block(blocks, sparse::format_of(format));
      },
      "blocks"_a, "format"_a, caller);
  m.def("sparse_select", sparse::select, "a"_a, "rows"_a, "columns"_a, caller);
  m.def(
      "sparse_take",
      [](const Matrix& a, const Like& positions, int axis) { return sparse::take(a, as_variable(positions), axis); },
      "a"_a, "positions"_a, "axis"_a, caller);
  m.def("sparse_tril", sparse::tril, "a"_a, "k"_a, caller);
  m.def("sparse_triu", sparse::triu, "a"_a, "k"_a, caller);
  m.def(
      "sparse_solve_triangular",
      [](const Matrix& a, const Like& b, Flag lower, nb::handle trans, Flag unit_diagonal) {
        return sparse::solve_triangular(a, as_variable(b),
                                        {.lower = lower,
                                         .trans = sparse::Trans(as_trans(trans, "sparse: solve_triangular")),
                                         .unit_diagonal = unit_diagonal});
      },
      "a"_a, "b"_a, "lower"_a, "trans"_a.none(), "unit_diagonal"_a, caller);
  m.def(
      "sparse_solve",
      [](const Matrix& a, const Like& b, const std::string& assume_a, Flag lower, Flag transposed) {
        return sparse::solve(a, as_variable(b),
                             {.assume_a = option_named<Assume>(assume_a, "sparse: solve: expected assume_a"),
                              .lower = lower,
                              .transposed = transposed});
      },
      "a"_a, "b"_a, "assume_a"_a, "lower"_a, "transposed"_a, caller);
  m.def("sparse_remove_zeros", sparse::remove_zeros, "a"_a, caller);
  m.def(
      "sparse_from_elements",
      [](const Like& data, const Like& rows, const Like& columns, const Like& height, const Like& width,
         const std::string& format) {
        return sparse::from_elements(as_variable(data), as_variable(rows), as_variable(columns),
                                     {as_variable(height), as_variable(width)}, sparse::format_of(format));
      },
      "data"_a, "rows"_a, "columns"_a, "height"_a, "width"_a, "format"_a, caller);
  m.def(
      "sparse_elements",
      [](const Matrix& a, const Like& rows, const Like& columns) {
        return sparse::elements(a, as_variable(rows), as_variable(columns));
      },
      "a"_a, "rows"_a, "columns"_a, caller);
  m.def(
      "sparse_element",
      [](const Matrix& a, const Like& row, const Like& column) {
        return sparse::element(a, as_variable(row), as_variable(column));
      },
      "a"_a, "row"_a, "column"_a, caller);
  m.def(
      "sparse_check",
      [](nb::handle indices, nb::handle indptr, std::int64_t major, std::int64_t minor) {
        return sparse::has_sorted_indices(array_from(indices, Share::Borrow), array_from(indptr, Share::Borrow), major,
                                          minor);
      },
      "indices"_a, "indptr"_a, "major"_a, "minor"_a,
      "Whether positions ascend in each row or column; ValueError unless they are in range, and indptr is of a "
      "matrix.");
  m.def(
      "segment_sum", [](const Like& x, const Like& bounds) { return segment_sum(as_variable(x), as_variable(bounds)); },
      "x"_a, "bounds"_a, caller,
      "The sum of each part of x along its first dimension. Part i begins at bounds[i] and ends before bounds[i + 1]. "
      "ValueError for bounds that decrease or are out of range.");
}

}  // namespace

void bind_sparse(nb::module_& m) {
  bind_matrix(m);
  bind_functions(m);
}

}  // namespace bitale::python
