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
= *constraint
Transforms of numbers.
y: Unconstrained numbers.
bound: Lower bound.
low: Lower end.
high: Upper end.
offset: Offset.
multiplier: Multiplier, positive.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each of `y`.

= *constraint_of_vectors
Transforms of vectors.
y: Unconstrained vectors of K - 1 numbers, along the last dimension.
-> value (TensorVariable): Constrained values.
-> log_jacobian (TensorVariable): Logarithm of the absolute determinant of the Jacobian, one number for each vector.

= *constraint_of_matrices
Transforms of matrices.
< *constraint_of_vectors
rows (int): Number of rows.
! ShapeError: if the last dimension of `y` has another length.

= *inverse
Inverse transforms.
x: Constrained values.
-> Unconstrained values; nan or infinite for an `x` that is outside.
bound: Lower bound.
low: Lower end.
high: Upper end.
offset: Offset.
multiplier: Multiplier, positive.

= *inverse_of_matrices
Inverse transforms of matrices.
< *inverse
! NotImplementedError: if the length of the matrices is not known.

= lower
Positive numbers above a bound, by their logarithms.
< *constraint
~ lower_inverse
* Stan Reference Manual, "Constraint Transforms", section "Lower bounded scalar".

= lower_inverse
Unconstrained values of `lower`.
< *inverse
~ lower

= upper
Numbers below a bound, by the logarithms of the distances.
< *constraint
bound: Upper bound.
~ upper_inverse
* Stan Reference Manual, "Constraint Transforms", section "Upper bounded scalar".

= upper_inverse
Unconstrained values of `upper`.
< *inverse
bound: Upper bound.
~ upper

= interval
Numbers in an interval, by a logit.
< *constraint
~ interval_inverse
* Stan Reference Manual, "Constraint Transforms", section "Lower and upper bounded scalar".

= interval_inverse
Unconstrained values of `interval`.
< *inverse
~ interval

= offset_multiplier
Numbers by an offset and a multiplier.
< *constraint
~ offset_multiplier_inverse
* Stan Reference Manual, "Constraint Transforms", section "Affinely transformed scalar".

= offset_multiplier_inverse
Unconstrained values of `offset_multiplier`.
< *inverse
~ offset_multiplier

= ordered
Increasing vectors, by the logarithms of the differences.
< *constraint_of_vectors
y: Unconstrained vectors of K numbers, along the last dimension.
~ ordered_inverse
* Stan Reference Manual, "Constraint Transforms", section "Ordered vector".

= ordered_inverse
Unconstrained values of `ordered`.
< *inverse
~ ordered

= positive_ordered
Increasing vectors of positive numbers, by the logarithms of the first and of the differences.
< *constraint_of_vectors
y: Unconstrained vectors of K numbers, along the last dimension.
~ positive_ordered_inverse
* Stan Reference Manual, "Constraint Transforms", section "Positive ordered vector".

= positive_ordered_inverse
Unconstrained values of `positive_ordered`.
< *inverse
~ positive_ordered

= simplex
Shares that sum to 1, as softmax of a vector that sums to zero.
< *constraint_of_vectors
~ simplex_inverse
* Stan Reference Manual, "Constraint Transforms", section "Unit simplex".

= simplex_inverse
Unconstrained values of `simplex`.
< *inverse
~ simplex

= simplex_stick
Shares that sum to 1, by stick breaking.
< *constraint_of_vectors
~ simplex_stick_inverse
* Stan Reference Manual, "Constraint Transforms", section "Unit simplex" (up to version 2.36).

= simplex_stick_inverse
Unconstrained values of `simplex_stick`.
< *inverse
~ simplex_stick

= sum_to_zero
Vectors that sum to zero, by coordinates in an orthonormal basis.
< *constraint_of_vectors
~ sum_to_zero_inverse
* Stan Reference Manual, "Constraint Transforms", section "Zero sum vector".

= sum_to_zero_inverse
Unconstrained values of `sum_to_zero`.
< *inverse
~ sum_to_zero

= unit_vector
Vectors of length 1, by their direction.
< *constraint_of_vectors
y: Unconstrained vectors of K numbers, along the last dimension.
~ unit_vector_inverse
* Stan Reference Manual, "Constraint Transforms", section "Unit vector".

= unit_vector_inverse
Unconstrained values of `unit_vector`.
< *inverse
~ unit_vector

= cholesky_corr
Cholesky factors of correlation matrices, by partial correlations.
< *constraint_of_matrices
y: Unconstrained vectors of K (K - 1) / 2 numbers, along the last dimension.
~ cholesky_corr_inverse
* Stan Reference Manual, "Constraint Transforms", section "Cholesky factors of correlation matrices".

= cholesky_corr_inverse
Unconstrained values of `cholesky_corr`.
< *inverse_of_matrices
~ cholesky_corr

= corr_matrix
Correlation matrices, by partial correlations.
< *constraint_of_matrices
y: Unconstrained vectors of K (K - 1) / 2 numbers, along the last dimension.
~ corr_matrix_inverse
* Stan Reference Manual, "Constraint Transforms", section "Correlation matrices".

= corr_matrix_inverse
Unconstrained values of `corr_matrix`.
< *inverse_of_matrices
~ corr_matrix

= cholesky_cov
Cholesky factors of covariance matrices, by the logarithms of the diagonal.
< *constraint_of_matrices
y: Unconstrained vectors of K (K + 1) / 2 numbers, along the last dimension.
~ cholesky_cov_inverse
* Stan Reference Manual, "Constraint Transforms", section "Cholesky factors of covariance matrices".

= cholesky_cov_inverse
Unconstrained values of `cholesky_cov`.
< *inverse_of_matrices
~ cholesky_cov

= cov_matrix
Covariance matrices, by the logarithms of the diagonal of their factor.
< *constraint_of_matrices
y: Unconstrained vectors of K (K + 1) / 2 numbers, along the last dimension.
~ cov_matrix_inverse
* Stan Reference Manual, "Constraint Transforms", section "Covariance matrices".

= cov_matrix_inverse
Unconstrained values of `cov_matrix`.
< *inverse_of_matrices
~ cov_matrix
)doc");
// clang-format on

}  // namespace bitale::python
