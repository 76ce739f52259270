// Log densities, whose descriptions follow from the records of distributions, and constraint transforms.
#include <string>

#include "bitale/core/text.hpp"
#include "reference/reference.hpp"
#include "stats/distribution.hpp"

namespace bitale::python {

namespace {

// What a function is of, and what is said of its result.
struct KindOfFunction {
  std::string_view ending, quantity, result;
};
constexpr std::string_view of_density = "-inf outside the support, nan for parameters outside their domain.";
constexpr std::string_view of_tail = "accurate in both tails. nan for parameters outside their domain.";
constexpr KindOfFunction kinds[] = {{"_logpdf", "the density", of_density},
                                    {"_logpmf", "a probability", of_density},
                                    {"_logcdf", "the distribution function", of_tail},
                                    {"_logsf", "the survival function", of_tail}};

void describe(std::string& out, const stats::Distribution& distribution, const stats::LogFunction& function) {
  for (const auto& [ending, quantity, result] : kinds) {
    if (!function.name.ends_with(ending)) continue;
    out += cat("\n= ", function.name, "\nLogarithm of ", quantity, " of the ", distribution.title, ".\n",
               distribution.value.name, ": ", distribution.value.text, '\n');
    for (const auto& each : std::span(distribution.parameters).first(function.parameters))
      out += cat(each.name, ": ", each.text, '\n');
    const char* shape = distribution.core.count > 0 ? "batch dimensions" : "shape";
    out += cat("-> Tensor of the broadcast ", shape, "; ", result, '\n', distribution.density_lines, '\n');
    std::string related;
    for (const auto& other : distribution.log_functions)
      if (other.name != function.name) related += cat(related.empty() ? "~ " : ", ", other.name);
    out += related + '\n';
  }
}

std::string log_functions() {
  std::string out;
  for (const auto& [name, distribution] : stats::distributions())
    for (const auto& function : distribution.log_functions) describe(out, distribution, function);
  return out;
}

}  // namespace

static const RegisterDescriptions densities(log_functions);

// clang-format off
static const RegisterDescriptions gamma(R"doc(
= gamma_logpdf
Logarithm of the density of the gamma distribution.
x: Value.
shape: Shape, positive.
rate (tensor_like or None): Rate, the reciprocal of the scale; positive.
scale (tensor_like or None): Scale, instead of the rate; 1 if neither is given.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
! ValueError: if both a rate and a scale are given.
)doc");

static const RegisterDescriptions transforms(R"doc(
= lower
Positive numbers above a bound, by their logarithms.
y: Unconstrained numbers.
bound: Lower bound.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each of `y`.
~ lower_inverse
* Stan Reference Manual, "Constraint Transforms", section "Lower bounded scalar".

= lower_inverse
Unconstrained values of `lower`.
x: Constrained values.
bound: Lower bound.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ lower

= upper
Numbers below a bound, by the logarithms of the distances.
y: Unconstrained numbers.
bound: Upper bound.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each of `y`.
~ upper_inverse
* Stan Reference Manual, "Constraint Transforms", section "Upper bounded scalar".

= upper_inverse
Unconstrained values of `upper`.
x: Constrained values.
bound: Upper bound.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ upper

= interval
Numbers in an interval, by a logit.
y: Unconstrained numbers.
low: Lower end.
high: Upper end.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each of `y`.
~ interval_inverse
* Stan Reference Manual, "Constraint Transforms", section "Lower and upper bounded scalar".

= interval_inverse
Unconstrained values of `interval`.
x: Constrained values.
low: Lower end.
high: Upper end.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ interval

= offset_multiplier
Numbers by an offset and a multiplier.
y: Unconstrained numbers.
offset: Offset.
multiplier: Multiplier, positive.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each of `y`.
~ offset_multiplier_inverse
* Stan Reference Manual, "Constraint Transforms", section "Affinely transformed scalar".

= offset_multiplier_inverse
Unconstrained values of `offset_multiplier`.
x: Constrained values.
offset: Offset.
multiplier: Multiplier, positive.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ offset_multiplier

= ordered
Increasing vectors, by the logarithms of the differences.
y: Unconstrained vectors of K numbers, along the last dimension.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
~ ordered_inverse
* Stan Reference Manual, "Constraint Transforms", section "Ordered vector".

= ordered_inverse
Unconstrained values of `ordered`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ ordered

= positive_ordered
Increasing vectors of positive numbers, by the logarithms of the first and of the differences.
y: Unconstrained vectors of K numbers, along the last dimension.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
~ positive_ordered_inverse
* Stan Reference Manual, "Constraint Transforms", section "Positive ordered vector".

= positive_ordered_inverse
Unconstrained values of `positive_ordered`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ positive_ordered

= simplex
Shares that sum to 1, as softmax of a vector that sums to zero.
y: Unconstrained vectors of K - 1 numbers, along the last dimension.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
~ simplex_inverse
* Stan Reference Manual, "Constraint Transforms", section "Unit simplex".

= simplex_inverse
Unconstrained values of `simplex`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ simplex

= simplex_stick
Shares that sum to 1, by stick breaking.
y: Unconstrained vectors of K - 1 numbers, along the last dimension.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
~ simplex_stick_inverse
* Stan Reference Manual, "Constraint Transforms", section "Unit simplex" (up to version 2.36).

= simplex_stick_inverse
Unconstrained values of `simplex_stick`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ simplex_stick

= sum_to_zero
Vectors that sum to zero, by coordinates in an orthonormal basis.
y: Unconstrained vectors of K - 1 numbers, along the last dimension.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
~ sum_to_zero_inverse
* Stan Reference Manual, "Constraint Transforms", section "Zero sum vector".

= sum_to_zero_inverse
Unconstrained values of `sum_to_zero`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ sum_to_zero

= unit_vector
Vectors of length 1, by their direction.
y: Unconstrained vectors of K numbers, along the last dimension.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
~ unit_vector_inverse
* Stan Reference Manual, "Constraint Transforms", section "Unit vector".

= unit_vector_inverse
Unconstrained values of `unit_vector`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
~ unit_vector

= cholesky_corr
Cholesky factors of correlation matrices, by partial correlations.
y: Unconstrained vectors of K (K - 1) / 2 numbers, along the last dimension.
rows (int): Number of rows.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
! ShapeError: if the last dimension of `y` has another length.
~ cholesky_corr_inverse
* Stan Reference Manual, "Constraint Transforms", section "Cholesky factors of correlation matrices".

= cholesky_corr_inverse
Unconstrained values of `cholesky_corr`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
! NotImplementedError: if the length of the matrices is not known.
~ cholesky_corr

= corr_matrix
Correlation matrices, by partial correlations.
y: Unconstrained vectors of K (K - 1) / 2 numbers, along the last dimension.
rows (int): Number of rows.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
! ShapeError: if the last dimension of `y` has another length.
~ corr_matrix_inverse
* Stan Reference Manual, "Constraint Transforms", section "Correlation matrices".

= corr_matrix_inverse
Unconstrained values of `corr_matrix`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
! NotImplementedError: if the length of the matrices is not known.
~ corr_matrix

= cholesky_cov
Cholesky factors of covariance matrices, by the logarithms of the diagonal.
y: Unconstrained vectors of K (K + 1) / 2 numbers, along the last dimension.
rows (int): Number of rows.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
! ShapeError: if the last dimension of `y` has another length.
~ cholesky_cov_inverse
* Stan Reference Manual, "Constraint Transforms", section "Cholesky factors of covariance matrices".

= cholesky_cov_inverse
Unconstrained values of `cholesky_cov`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
! NotImplementedError: if the length of the matrices is not known.
~ cholesky_cov

= cov_matrix
Covariance matrices, by the logarithms of the diagonal of their factor.
y: Unconstrained vectors of K (K + 1) / 2 numbers, along the last dimension.
rows (int): Number of rows.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.
! ShapeError: if the last dimension of `y` has another length.
~ cov_matrix_inverse
* Stan Reference Manual, "Constraint Transforms", section "Covariance matrices".

= cov_matrix_inverse
Unconstrained values of `cov_matrix`.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
! NotImplementedError: if the length of the matrices is not known.
~ cov_matrix
)doc");
// clang-format on

}  // namespace bitale::python
