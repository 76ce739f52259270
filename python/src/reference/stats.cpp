// Log densities and constraint transforms, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions densities(R"doc(
= uniform_logpdf
Logarithm of the density of the uniform distribution.
x: Value.
low: Lower end.
high: Upper end, above `low`.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ uniform_logcdf, uniform_logsf

= normal_logpdf
Logarithm of the density of the normal distribution.
x: Value.
loc: Mean.
scale: Standard deviation, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ normal_logcdf, normal_logsf

= halfnormal_logpdf
Logarithm of the density of the half-normal distribution.
x: Value.
loc: Lower end.
scale: Standard deviation of the normal distribution that is folded, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ halfnormal_logcdf, halfnormal_logsf

= truncated_normal_logpdf
Logarithm of the density of the normal distribution truncated to an interval.
x: Value.
loc: Mean before truncation.
scale: Standard deviation before truncation, positive.
lower: Lower end.
upper: Upper end, above `lower`.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= lognormal_logpdf
Logarithm of the density of the log-normal distribution.
x: Value.
mean: Mean of the logarithm.
sigma: Standard deviation of the logarithm, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ lognormal_logcdf, lognormal_logsf

= t_logpdf
Logarithm of the density of the Student's t distribution.
x: Value.
df: Degrees of freedom, positive.
loc: Location.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= cauchy_logpdf
Logarithm of the density of the Cauchy distribution.
x: Value.
loc: Median.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ cauchy_logcdf, cauchy_logsf

= halfcauchy_logpdf
Logarithm of the density of the half-Cauchy distribution.
x: Value.
loc: Lower end.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= laplace_logpdf
Logarithm of the density of the Laplace (double exponential) distribution.
x: Value.
loc: Mean.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ laplace_logcdf, laplace_logsf

= logistic_logpdf
Logarithm of the density of the logistic distribution.
x: Value.
loc: Mean.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ logistic_logcdf, logistic_logsf

= gumbel_logpdf
Logarithm of the density of the Gumbel distribution of maxima.
x: Value.
loc: Mode.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ gumbel_logcdf, gumbel_logsf

= vonmises_logpdf
Logarithm of the density of the von Mises distribution.
x: Value.
mu: Mean direction, in radians.
kappa: Concentration, not negative.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= exponential_logpdf
Logarithm of the density of the exponential distribution.
x: Value.
scale: Mean, the reciprocal of the rate; positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ exponential_logcdf, exponential_logsf

= truncexpon_logpdf
Logarithm of the density of the exponential distribution truncated to an interval.
x: Value.
b: Length of the interval in units of `scale`, positive.
loc: Lower end.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= gengamma_logpdf
Logarithm of the density of the generalised gamma distribution.
x: Value.
alpha: Shape, positive: near 0 the density is proportional to the power ``alpha - 1``.
p: Power in the exponent, positive.
lambd: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= invgamma_logpdf
Logarithm of the density of the inverse gamma distribution.
x: Value.
shape: Shape, positive.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= chisquare_logpdf
Logarithm of the density of the chi-squared distribution.
x: Value.
df: Degrees of freedom, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= beta_logpdf
Logarithm of the density of the beta distribution.
x: Value.
alpha: First shape, positive.
beta: Second shape, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= weibull_logpdf
Logarithm of the density of the Weibull distribution.
x: Value.
shape: Shape, positive.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ weibull_logcdf, weibull_logsf

= pareto_logpdf
Logarithm of the density of the Pareto distribution.
x: Value.
b: Shape, positive.
scale: Lower end, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ pareto_logcdf, pareto_logsf

= rayleigh_logpdf
Logarithm of the density of the Rayleigh distribution.
x: Value.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
~ rayleigh_logcdf, rayleigh_logsf

= wald_logpdf
Logarithm of the density of the Wald (inverse Gaussian) distribution.
x: Value.
mean: Mean, positive.
scale: Scale, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= triangular_logpdf
Logarithm of the density of the triangular distribution.
x: Value.
left: Lower end.
mode: Mode.
right: Upper end.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= bernoulli_logpmf
Logarithm of a probability of the Bernoulli distribution.
x: Value.
p: Probability of 1.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= binomial_logpmf
Logarithm of a probability of the binomial distribution.
x: Value.
n: Number of trials.
p: Probability of a success.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= negative_binomial_logpmf
Logarithm of a probability of the negative binomial distribution.
x: Value.
n: Number of successes, positive.
p: Probability of a success, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= betabinom_logpmf
Logarithm of a probability of the beta-binomial distribution.
x: Value.
n: Number of trials.
a: First shape of the probability's beta distribution, positive.
b: Second shape, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= poisson_logpmf
Logarithm of a probability of the Poisson distribution.
x: Value.
lam: Mean, not negative.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= geometric_logpmf
Logarithm of a probability of the geometric distribution, which begins at 1.
x: Value.
p: Probability of a success, positive.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= hypergeometric_logpmf
Logarithm of a probability of the hypergeometric distribution.
x: Value.
ngood: Number of good elements.
nbad: Number of bad elements.
nsample: Number of elements drawn without replacement.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= integers_logpmf
Logarithm of a probability of the uniform distribution of integers.
x: Value.
low: Lowest number.
high: Upper end, which is excluded.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= bernoulli_logit_logpmf
Logarithm of a probability of the Bernoulli distribution by its logit.
x: Value.
logit: Logit of the probability of 1.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= binomial_logit_logpmf
Logarithm of a probability of the binomial distribution by its logit.
x: Value.
n: Number of trials.
logit: Logit of the probability of a success.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= poisson_log_logpmf
Logarithm of a probability of the Poisson distribution by the logarithm of its mean.
x: Value.
log_lam: Logarithm of the mean.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= negative_binomial_2_logpmf
Logarithm of a probability of the negative binomial distribution by its mean.
x: Value.
mu: Mean, positive.
phi: Precision, positive: the variance is ``mu + mu**2 / phi``.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= negative_binomial_2_log_logpmf
Logarithm of a probability of the negative binomial distribution by the logarithm of its mean.
x: Value.
log_mu: Logarithm of the mean.
phi: Precision, positive: the variance is ``mu + mu**2 / phi``.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.

= gamma_logpdf
Logarithm of the density of the gamma distribution.
x: Value.
shape: Shape, positive.
rate (tensor_like or None): Rate, the reciprocal of the scale; positive.
scale (tensor_like or None): Scale, instead of the rate; 1 if neither is given.
-> Tensor of the broadcast shape; -inf outside the support, nan for parameters outside their domain.
! ValueError: if both a rate and a scale are given.

)doc");

static const RegisterDescriptions tails_and_vectors(R"doc(
= uniform_logcdf
Logarithm of the distribution function of the uniform distribution.
x: Value.
low: Lower end.
high: Upper end, above `low`.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ uniform_logpdf, uniform_logsf

= uniform_logsf
Logarithm of the survival function of the uniform distribution.
x: Value.
low: Lower end.
high: Upper end, above `low`.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ uniform_logpdf, uniform_logcdf

= normal_logcdf
Logarithm of the distribution function of the normal distribution.
x: Value.
loc: Mean.
scale: Standard deviation, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ normal_logpdf, normal_logsf

= normal_logsf
Logarithm of the survival function of the normal distribution.
x: Value.
loc: Mean.
scale: Standard deviation, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ normal_logpdf, normal_logcdf

= halfnormal_logcdf
Logarithm of the distribution function of the half-normal distribution.
x: Value.
loc: Lower end.
scale: Standard deviation of the normal distribution that is folded, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ halfnormal_logpdf, halfnormal_logsf

= halfnormal_logsf
Logarithm of the survival function of the half-normal distribution.
x: Value.
loc: Lower end.
scale: Standard deviation of the normal distribution that is folded, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ halfnormal_logpdf, halfnormal_logcdf

= lognormal_logcdf
Logarithm of the distribution function of the log-normal distribution.
x: Value.
mean: Mean of the logarithm.
sigma: Standard deviation of the logarithm, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ lognormal_logpdf, lognormal_logsf

= lognormal_logsf
Logarithm of the survival function of the log-normal distribution.
x: Value.
mean: Mean of the logarithm.
sigma: Standard deviation of the logarithm, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ lognormal_logpdf, lognormal_logcdf

= cauchy_logcdf
Logarithm of the distribution function of the Cauchy distribution.
x: Value.
loc: Median.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ cauchy_logpdf, cauchy_logsf

= cauchy_logsf
Logarithm of the survival function of the Cauchy distribution.
x: Value.
loc: Median.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ cauchy_logpdf, cauchy_logcdf

= laplace_logcdf
Logarithm of the distribution function of the Laplace (double exponential) distribution.
x: Value.
loc: Mean.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ laplace_logpdf, laplace_logsf

= laplace_logsf
Logarithm of the survival function of the Laplace (double exponential) distribution.
x: Value.
loc: Mean.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ laplace_logpdf, laplace_logcdf

= logistic_logcdf
Logarithm of the distribution function of the logistic distribution.
x: Value.
loc: Mean.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ logistic_logpdf, logistic_logsf

= logistic_logsf
Logarithm of the survival function of the logistic distribution.
x: Value.
loc: Mean.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ logistic_logpdf, logistic_logcdf

= gumbel_logcdf
Logarithm of the distribution function of the Gumbel distribution of maxima.
x: Value.
loc: Mode.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ gumbel_logpdf, gumbel_logsf

= gumbel_logsf
Logarithm of the survival function of the Gumbel distribution of maxima.
x: Value.
loc: Mode.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ gumbel_logpdf, gumbel_logcdf

= exponential_logcdf
Logarithm of the distribution function of the exponential distribution.
x: Value.
scale: Mean, the reciprocal of the rate; positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ exponential_logpdf, exponential_logsf

= exponential_logsf
Logarithm of the survival function of the exponential distribution.
x: Value.
scale: Mean, the reciprocal of the rate; positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ exponential_logpdf, exponential_logcdf

= rayleigh_logcdf
Logarithm of the distribution function of the Rayleigh distribution.
x: Value.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ rayleigh_logpdf, rayleigh_logsf

= rayleigh_logsf
Logarithm of the survival function of the Rayleigh distribution.
x: Value.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ rayleigh_logpdf, rayleigh_logcdf

= weibull_logcdf
Logarithm of the distribution function of the Weibull distribution.
x: Value.
shape: Shape, positive.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ weibull_logpdf, weibull_logsf

= weibull_logsf
Logarithm of the survival function of the Weibull distribution.
x: Value.
shape: Shape, positive.
scale: Scale, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ weibull_logpdf, weibull_logcdf

= pareto_logcdf
Logarithm of the distribution function of the Pareto distribution.
x: Value.
b: Shape, positive.
scale: Lower end, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ pareto_logpdf, pareto_logsf

= pareto_logsf
Logarithm of the survival function of the Pareto distribution.
x: Value.
b: Shape, positive.
scale: Lower end, positive.
-> Tensor of the broadcast shape; accurate in both tails. nan for parameters outside their domain.
~ pareto_logpdf, pareto_logcdf

= categorical_logpmf
Logarithm of a probability of the distribution of categories by their probabilities.
x: Category, an integer from 0.
p: Probabilities of the categories, along the last dimension.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.
! TypeError: if `x` is not of integers.

= categorical_logit_logpmf
Logarithm of a probability of the distribution of categories by their logits.
x: Category, an integer from 0.
logits: Logarithms of the probabilities up to a common constant, along the last dimension.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.
! TypeError: if `x` is not of integers.

= ordered_logistic_logpmf
Logarithm of a probability of the ordered logistic distribution of categories.
x: Category, an integer from 0.
eta: Linear predictor.
cutpoints: Increasing limits between categories, one fewer than there are categories, along the last dimension.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.
! TypeError: if `x` is not of integers.

= multinomial_logpmf
Logarithm of a probability of the multinomial distribution.
x: Counts, along the last dimension.
n: Number of trials, the sum of the counts.
p: Probabilities, along the last dimension.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.

= dirichlet_logpdf
Logarithm of the density of the Dirichlet distribution.
x: Shares that sum to 1, along the last dimension.
alphas: Concentrations, positive, along the last dimension.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.

= multivariate_normal_logpdf
Logarithm of the density of the multivariate normal distribution.
x: Vector.
mean: Mean vector.
cov: Covariance matrix, of which the lower triangle is read.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.

= multivariate_normal_cholesky_logpdf
Logarithm of the density of the multivariate normal distribution by a factor of its covariance.
x: Vector.
mean: Mean vector.
factor: Lower Cholesky factor of the covariance matrix.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.

= multivariate_normal_precision_logpdf
Logarithm of the density of the multivariate normal distribution by the inverse of its covariance.
x: Vector.
mean: Mean vector.
precision: Inverse of the covariance matrix, of which the lower triangle is read.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.

= lkj_cholesky_logpdf
Logarithm of the density of the LKJ distribution of Cholesky factors of correlation matrices.
factor: Lower Cholesky factor of a correlation matrix, whose length is known.
eta: Shape, positive; 1 is uniform over correlation matrices.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.
! NotImplementedError: if the length of `factor` is not known.
* The density is that of the elements below the diagonal (Lewandowski, Kurowicka and Joe, 2009).

= wishart_logpdf
Logarithm of the density of the Wishart distribution.
x: Positive definite matrix.
df: Degrees of freedom, more than the number of rows less 1.
scale: Scale matrix, of which the lower triangle is read.
-> Tensor of the broadcast batch dimensions; -inf outside the support, nan for parameters outside their domain.

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
