// Random variables whose parameters are labelled: they meet by the names of their dimensions. A draw has further
// dimensions, `extra`, then those of the parameters, then its core dimensions: those along which a distribution of
// vectors has its parameters and draws. Draws are those of bitale/ops/random.hpp.
//
//   auto [next, x] = xtensor::random::normal(rng, {mu, 1.0}, {.extra = {Dim("draw", 100)}});
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/ops/random.hpp"
#include "bitale/xtensor/variable.hpp"

namespace bitale::xtensor::random {

struct Draw {
  Variable next_rng;
  XVariable value;
};

struct DrawDims {
  DimList extra = {};
  std::vector<std::optional<Operand>> lengths = {};  // those of `extra`, where a Dim has none
  std::vector<std::string> core = {};                // of "categorical", "dirichlet" and "multinomial" one name, of
                                       // "multivariate_normal" those of the rows and columns of the covariance
};

// Any distribution of bitale/ops/random.hpp, by name, with all of its parameters. ValueError for another number of core
// dimensions, names that are not there, and an extra dimension without a length; NotImplementedError for other names.
Draw draw(std::string_view distribution, const Variable& rng, const XOperands& parameters, const DrawDims& dims = {});

// The same for what draws tensors: of the aligned parameters and a size, none where they determine it.
using Distribution = std::function<bitale::random::Draw(const Variables& parameters, const bitale::random::Size& size)>;
Draw draw(std::string_view distribution, const XOperands& parameters, const DrawDims& dims,
          const Distribution& of_tensors);

// clang-format off
#define BITALE_LABELLED_DISTRIBUTIONS(X) BITALE_NUMPY_DISTRIBUTIONS(X) BITALE_COMPOSED_DISTRIBUTIONS(X) \
  X(standard_normal) X(categorical) X(multivariate_normal) X(dirichlet) X(multinomial)
#define BITALE_DECLARE(name, ...) inline Draw name(const Variable& rng, const XOperands& parameters, const DrawDims& dims = {}) { return draw(#name, rng, parameters, dims); }
BITALE_LABELLED_DISTRIBUTIONS(BITALE_DECLARE)
#undef BITALE_DECLARE
// clang-format on

}  // namespace bitale::xtensor::random
