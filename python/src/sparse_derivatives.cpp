#include "sparse_derivatives.hpp"

#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/sparse/functions.hpp"
#include "define.hpp"
#include "hooks.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

// How a derivative's sparsity is given: a bool matrix, one of scipy.sparse, or "auto" for the pattern that is found.
struct Sparsity {
  Sparsity(nb::handle given, bool sparse) : sparse(sparse) {
    if (nb::isinstance<nb::str>(given)) {
      if (nb::cast<std::string>(given) != "auto")
        throw ValueError(cat("sparsity: expected \"auto\" or a matrix, got \"", nb::cast<std::string>(given), "\""));
      return;
    }
    if (given.is_none()) return;
    nb::object matrix = nb::borrow(given);
    if (!nb::hasattr(matrix, "tocsr"))
      matrix = nb::module_::import_("numpy").attr("asarray")(matrix, "dtype"_a = "bool");
    const nb::object shape = matrix.attr("shape");
    if (nb::len(shape) != 2)
      throw TypeError(cat("expected a matrix of bool as sparsity, got one with ", nb::len(shape), " dimensions"));
    sparse::Elements elements(nb::cast<std::int64_t>(shape[0]), nb::cast<std::int64_t>(shape[1]));
    const nb::object positions = matrix.attr("nonzero")();
    const auto list = [](const nb::object& axis) {
      const Array all = array_from(axis, Share::Copy).astype(DType::Int64).contiguous();
      return std::vector<std::int64_t>(all.data_as<std::int64_t>(), all.data_as<std::int64_t>() + all.size());
    };
    elements.rows = list(positions[0]);
    elements.columns = list(positions[1]);
    pattern = compress(elements, sparse::Format::csr).pattern;
  }

  nb::object result(const sparse::Matrix& matrix) const {
    if (!sparse) return wrap(to_dense(matrix));
    hook("sparse_variable");  // before the first instance, so that it has all methods
    return nb::cast(matrix);
  }

  bool sparse;
  std::optional<sparse::Pattern> pattern;
};

}  // namespace

nb::object jacobian_by_sparsity(const Variable& expression, const Variable& wrt, nb::handle sparsity, bool sparse,
                                const GradOptions& options) {
  const Sparsity given(sparsity, sparse);
  return given.result(given.pattern ? sparse_jacobian(expression, wrt, *given.pattern, options)
                                    : sparse_jacobian(expression, wrt, options));
}

nb::object hessian_by_sparsity(const Variable& cost, const Variable& wrt, nb::handle sparsity, bool sparse,
                               const GradOptions& options) {
  const Sparsity given(sparsity, sparse);
  return given.result(given.pattern ? sparse_hessian(cost, wrt, *given.pattern, options)
                                    : sparse_hessian(cost, wrt, options));
}

}  // namespace bitale::python
