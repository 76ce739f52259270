// Reductions that ignore nan, and cumulative ones, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions nan_reductions(R"doc(
= nansum
Sum of the elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axes to reduce; all by default.
dtype: Dtype of the accumulation and of the result.
-> Sums; 0 where all elements are nan.
~ sum, nanmean

= nanprod
Product of the elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axes to reduce; all by default.
dtype: Dtype of the accumulation and of the result.
-> Products; 1 where all elements are nan.
~ prod

= nanmean
Arithmetic mean of the elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axes to reduce; all by default.
dtype: Dtype of the accumulation and of the result.
-> Means; nan where all elements are nan.
~ mean, nanvar

= nanmax
Maximum of the elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axes to reduce; all by default.
-> Maxima; nan where all elements are nan.
~ max, nanargmax

= nanmin
Minimum of the elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axes to reduce; all by default.
-> Minima; nan where all elements are nan.
~ min, nanargmin

= nanmedian
Median of the elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axes to reduce; all by default.
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
a: Real numbers; nan is ignored.
axis: Axes to reduce; all by default.
ddof: Delta degrees of freedom: the divisor is the number of elements minus `ddof`.
-> Variances; nan where at most `ddof` elements are not nan.
~ var, nanstd

= nanstd
Standard deviation of the elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axes to reduce; all by default.
ddof: Delta degrees of freedom: the divisor is the number of elements minus `ddof`.
-> Standard deviations; nan where at most `ddof` elements are not nan.
~ std, nanvar

= nanargmax
Index of the maximum of the elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axis along which to search; None searches the flattened tensor.
keepdims: Keep the axis, with length 1.
-> Indices, int64.
! ValueError: if all elements are nan, when the function is called.
~ argmax, nanmax

= nanargmin
Index of the minimum of the elements that are not nan.
a: Real numbers; nan is ignored.
axis: Axis along which to search; None searches the flattened tensor.
keepdims: Keep the axis, with length 1.
-> Indices, int64.
! ValueError: if all elements are nan, when the function is called.
~ argmin, nanmin

= nancumsum
Cumulative sum of the elements, in which nan counts as 0.
a: Numbers.
axis: Axis along which to accumulate; None accumulates the flattened tensor.
-> Tensor of the shape of `a`, or a vector.
~ cumsum

= nancumprod
Cumulative product of the elements, in which nan counts as 1.
a: Numbers.
axis: Axis along which to accumulate; None accumulates the flattened tensor.
-> Tensor of the shape of `a`, or a vector.
~ cumprod

= cumulative_sum
Cumulative sum along an axis, as the array-API standard defines it.
x: Numbers.
axis: Axis along which to accumulate; only that of a vector may be left out.
dtype: Dtype of the accumulation and of the result.
include_initial: Begin with 0, so that the result has one more element.
-> Tensor; of integers int64 or uint64 by default.
! ValueError: if `axis` is left out for a tensor that is not a vector.
~ cumsum

= cumulative_prod
Cumulative product along an axis, as the array-API standard defines it.
x: Numbers.
axis: Axis along which to accumulate; only that of a vector may be left out.
dtype: Dtype of the accumulation and of the result.
include_initial: Begin with 1, so that the result has one more element.
-> Tensor; of integers int64 or uint64 by default.
! ValueError: if `axis` is left out for a tensor that is not a vector.
~ cumprod

= nanquantile
Quantiles of the elements that are not nan.
a: Real numbers; nan is ignored.
q: Quantile, a fraction in [0, 1]: a scalar, or a vector, which becomes the first axis.
axis: Axes to reduce; all by default.
method: Method of interpolation, as of `quantile`.
-> Floats; nan where all elements are nan.
! ValueError: if `method` is unknown.
~ quantile, nanmedian

= nanpercentile
Percentiles of the elements that are not nan.
a: Real numbers; nan is ignored.
q: Percentile in [0, 100]: a scalar, or a vector, which becomes the first axis.
axis: Axes to reduce; all by default.
method: Method of interpolation, as of `quantile`.
-> Floats; nan where all elements are nan.
! ValueError: if `method` is unknown.
~ percentile, nanmedian
)doc");
// clang-format on

}  // namespace bitale::python
