// Reductions that ignore nan, and cumulative ones, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions nan_reductions(R"doc(
= *nan_reduction
Reductions that ignore nan.
a: Real numbers; nan is ignored.
axis: Axes to reduce; all by default.
dtype: Dtype of the accumulation and of the result.
ddof: Delta degrees of freedom: the divisor is the number of elements minus `ddof`.
method: Method of interpolation, as in `quantile`.

= *nan_position
Positions among elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axis along which to search; None searches the flattened tensor.
keepdims: Keep the axis, with length 1.
-> Indices, int64.
! ValueError: if all elements are nan, when the function is called.

= *cumulative
Cumulative functions.
a: Numbers.
axis: Axis along which to accumulate; None accumulates the flattened tensor.
-> Tensor of the shape of `a`, or a vector.

= *standard_cumulative
Cumulative functions of the array-API standard.
x: Numbers.
axis: Axis along which to accumulate; it may be omitted only for a vector.
dtype: Dtype of the accumulation and of the result.
-> Tensor; for integers int64 or uint64 by default.
! ValueError: if `axis` is omitted for a tensor that is not a vector.

= nansum
Sum of the elements that are not nan.
< *nan_reduction
-> Sums; 0 where all elements are nan.
~ sum, nanmean

= nanprod
Product of the elements that are not nan.
< *nan_reduction
-> Products; 1 where all elements are nan.
~ prod

= nanmean
Arithmetic mean of the elements that are not nan.
< *nan_reduction
-> Means; nan where all elements are nan.
~ mean, nanvar

= nanmax
Maximum of the elements that are not nan.
< *nan_reduction
-> Maxima; nan where all elements are nan.
~ max, nanargmax

= nanmin
Minimum of the elements that are not nan.
< *nan_reduction
-> Minima; nan where all elements are nan.
~ min, nanargmin

= nanmedian
Median of the elements that are not nan.
< *nan_reduction
-> Medians; nan where all elements are nan.
~ median, nanquantile

= count_nonzero
Number of the elements that are not 0.
a: Numbers.
axis: Axes to reduce; all by default.
-> Counts, int64; nan is not 0.
~ sum

= nanvar
Variance of the elements that are not nan.
< *nan_reduction
-> Variances; nan where at most `ddof` elements are not nan.
~ var, nanstd

= nanstd
Standard deviation of the elements that are not nan.
< *nan_reduction
-> Standard deviations; nan where at most `ddof` elements are not nan.
~ std, nanvar

= nanargmax
Index of the maximum of the elements that are not nan.
< *nan_position
~ argmax, nanmax

= nanargmin
Index of the minimum of the elements that are not nan.
< *nan_position
~ argmin, nanmin

= nancumsum
Cumulative sum of the elements, in which nan counts as 0.
< *cumulative
~ cumsum

= nancumprod
Cumulative product of the elements, in which nan counts as 1.
< *cumulative
~ cumprod

= cumulative_sum
Cumulative sum along an axis, as the array-API standard defines it.
< *standard_cumulative
include_initial: Begin with 0, so that the result has one more element.
~ cumsum

= cumulative_prod
Cumulative product along an axis, as the array-API standard defines it.
< *standard_cumulative
include_initial: Begin with 1, so that the result has one more element.
~ cumprod

= nanquantile
Quantiles of the elements that are not nan.
< *nan_reduction
q: Quantile, a fraction in [0, 1]: a scalar, or a vector, which becomes the first axis.
-> Floats; nan where all elements are nan.
! ValueError: if `method` is unknown.
~ quantile, nanmedian

= nanpercentile
Percentiles of the elements that are not nan.
< *nan_reduction
q: Percentile in [0, 100]: a scalar, or a vector, which becomes the first axis.
-> Floats; nan where all elements are nan.
! ValueError: if `method` is unknown.
~ percentile, nanmedian
)doc");
// clang-format on

}  // namespace bitale::python
