// Reductions, cumulative operations and statistics, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions reductions(R"doc(
= sum
Sum of the elements over the given axes.
dtype: Dtype of the result. By default that of `input`; integers and bool are summed in int64 or uint64. Floats are added before they are converted to an integer dtype.
acc_dtype: Minimum dtype in which to accumulate. Sums are always accumulated in 64 bits.
-> Sums, of the shape of `input` without the reduced axes.
! TypeError: if `acc_dtype` cannot hold all values of the dtype of `input`.
~ prod, mean, cumsum, logsumexp
* The sum over no elements is 0. Long rows are added in a fixed pairwise order, so the result does not depend on the number of threads.

= prod
Product of the elements over the given axes.
dtype: Dtype of the result. By default that of `input`; integers and bool are multiplied in int64 or uint64. Floats are multiplied before they are converted to an integer dtype.
acc_dtype: Minimum dtype in which to accumulate.
-> Products, of the shape of `input` without the reduced axes.
! TypeError: if `acc_dtype` cannot hold all values of the dtype of `input`.
~ sum, cumprod
* The product over no elements is 1.

= mean
Arithmetic mean over the given axes.
dtype: Dtype of the sum. With an integer dtype, the mean is float64.
acc_dtype: Minimum dtype in which to accumulate.
-> Means, of the shape of `input` without the reduced axes. Floats keep their dtype; integers and bool give float64.
! TypeError: if `acc_dtype` cannot hold all values of the dtype of `input`.
~ sum, var, std, median

= var
Variance over the given axes.
ddof (float): Delta degrees of freedom: the sum of squares is divided by ``n - ddof``.
corrected: Divide by ``n - 1``, as ``ddof=1`` does.
correction (float): Another name of `ddof`.
-> Variances, of the shape of `input` without the reduced axes. Floats keep their dtype; integers and bool give float64.
~ std, mean, cov
* The mean is subtracted first: ``mean(abs(x - mean(x))**2)``.

= std
Standard deviation over the given axes.
ddof (float): Delta degrees of freedom: the sum of squares is divided by ``n - ddof``.
corrected: Divide by ``n - 1``, as ``ddof=1`` does.
correction (float): Another name of `ddof`.
-> Standard deviations, of the shape of `input` without the reduced axes. Floats keep their dtype; integers and bool give float64.
~ var, mean

= max
Maximum over the given axes.
initial (scalar): Value that counts as one more element, so that the reduced axes may be empty.
-> Maxima, of the shape of `x` without the reduced axes and of its dtype; nan where there is a nan.
! TypeError: if the dtype of `x` cannot hold `initial`.
! ValueError: at run time, if an empty axis is reduced and `initial` is not given.
~ min, argmax, maximum

= min
Minimum over the given axes.
initial (scalar): Value that counts as one more element, so that the reduced axes may be empty.
-> Minima, of the shape of `x` without the reduced axes and of its dtype; nan where there is a nan.
! TypeError: if the dtype of `x` cannot hold `initial`.
! ValueError: at run time, if an empty axis is reduced and `initial` is not given.
~ max, argmin, minimum

= argmax
Index of the maximum along an axis.
axis: Axis to search. By default the flattened tensor is searched. Several axes are flattened in the order in which `x` has them.
-> Indices, int64, of the shape of `x` without the searched axes. For equal elements, the index of the first; if there is a nan, that of the first nan.
~ argmin, max, argsort

= argmin
Index of the minimum along an axis.
axis: Axis to search. By default the flattened tensor is searched. Several axes are flattened in the order in which `x` has them.
-> Indices, int64, of the shape of `x` without the searched axes. For equal elements, the index of the first; if there is a nan, that of the first nan.
~ argmax, min, argsort

= all
Test whether all elements over the given axes are true.
-> Results, bool, of the shape of `x` without the reduced axes; true over no elements.
~ any, logical_and

= any
Test whether any element over the given axes is true.
-> Results, bool, of the shape of `x` without the reduced axes; false over no elements.
~ all, logical_or

= cumsum
Cumulative sum along an axis.
axis (int): Axis along which to sum. By default the flattened tensor.
dtype: Dtype to which `x` is converted before it is summed.
-> Sums of all elements up to and including each, of the shape of `x` (a vector where `axis` is None). Integers and bool are summed in int64 or uint64.
~ sum, cumprod, diff

= cumprod
Cumulative product along an axis.
axis (int): Axis along which to multiply. By default the flattened tensor.
dtype: Dtype to which `x` is converted before it is multiplied.
-> Products of all elements up to and including each, of the shape of `x` (a vector where `axis` is None). Integers and bool are multiplied in int64 or uint64.
~ prod, cumsum

= logsumexp
Logarithm of the sum of exponentials over the given axes, without overflow.
-> ``log(sum(exp(x)))``, of the shape of `x` without the reduced axes; -inf where there are no elements.
~ logaddexp, log_softmax, softmax
* The maximum m is factored out: ``m + log(sum(exp(x - m)))``.

= softmax
Softmax over the given axes, without overflow.
c: Logits.
-> ``exp(c) / sum(exp(c))``, of the shape of `c`; it sums to 1 over the axes.
~ log_softmax, logsumexp

= log_softmax
Logarithm of the softmax over the given axes.
c: Logits.
-> ``c - logsumexp(c)``, of the shape of `c`.
~ softmax, logsumexp
* Accurate even where the softmax underflows.

= logaddexp
Logarithm of the sum of exponentials of several tensors, without overflow.
xs (tensor_like): Operands; their shapes are broadcast together.
-> ``log(exp(xs[0]) + exp(xs[1]) + ...)``, elementwise.
~ logsumexp

= median
Median over the given axes.
-> The middle element, or the mean of the middle two, of the shape of `x` without the reduced axes; nan where there is a nan. Integers give float64.
~ mean, quantile, percentile

= quantile
Quantiles over the given axes.
a: Tensor of which to compute the quantiles.
q (tensor_like): Probabilities in [0, 1]: a scalar or a vector.
method: How a quantile between two elements is determined. Methods of Hyndman and Fan: ``'inverted_cdf'``, ``'averaged_inverted_cdf'``, ``'closest_observation'``, ``'interpolated_inverted_cdf'``, ``'hazen'``, ``'weibull'``, ``'linear'``, ``'median_unbiased'``, ``'normal_unbiased'``; variants of the linear one: ``'lower'``, ``'higher'``, ``'midpoint'``, ``'nearest'``.
-> Quantiles, of the shape of `a` without the reduced axes, after a first dimension for a vector `q`; nan where there is a nan.
~ percentile, median
* The values are those of ``numpy.quantile``. Hyndman, Fan: Sample Quantiles in Statistical Packages, The American Statistician 50, 1996.

= percentile
Percentiles over the given axes.
a: Tensor of which to compute the percentiles.
q (tensor_like): Percentages in [0, 100]: a scalar or a vector.
method: As in `quantile`.
-> Percentiles, of the shape of `a` without the reduced axes, after a first dimension for a vector `q`.
~ quantile, median

= ptp
Range of values, maximum minus minimum, over the given axes.
-> Differences, of the shape of `a` without the reduced axes.
~ max, min

= cov
Covariance matrix of several variables.
m: Observations: a vector, or a matrix with one variable per row.
y (tensor_like): More observations of the same form.
rowvar: Variables are the rows; otherwise the columns.
bias: Divide by the number n of observations rather than by ``n - 1``.
ddof (int): Delta degrees of freedom; it overrides `bias`.
fweights (tensor_like): Vector of integers: how often each observation is counted.
aweights (tensor_like): Vector of weights of the observations.
dtype: Dtype of the computation and the result.
-> Covariance matrix, with one row and column per variable.
~ var
* The arguments are those of ``numpy.cov``.

= bincount
Count the occurrences of each value in a vector of non-negative integers.
x (tensor_like): Vector of integers.
weights (tensor_like): Vector of weights to add up instead of ones.
minlength (int): Minimum length of the result.
assert_nonneg: Accepted for compatibility with PyTensor; values are always checked.
-> Counts (int64) or sums of weights, a vector of length ``max(x) + 1`` or `minlength`.
! ValueError: at run time, if an element of `x` is negative.
~ unique, digitize

)doc");
// clang-format on

}  // namespace bitale::python
