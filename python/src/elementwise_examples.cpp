// Examples of elementwise and special functions, for their docstrings; tests/python/test_ergonomics.py runs them.
#include "examples.hpp"

namespace bitale::python {

// clang-format off
const Examples& elementwise_examples() {
  static const Examples examples{
    {"abs", R"(>>> pt.abs([-2.0, 3.0]).eval()
array([2., 3.]))"},
    {"add", R"(>>> pt.add([1.0, 2.0], 10.0, 100.0).eval()
array([111., 112.]))"},
    {"and_", R"(>>> pt.and_(12, 10).eval()
array(8))"},
    {"arccos", R"(>>> pt.arccos([1.0, 0.0]).eval()
array([0.        , 1.57079633]))"},
    {"arccosh", R"(>>> pt.arccosh([1.0, 2.0]).eval()
array([0.       , 1.3169579]))"},
    {"arcsin", R"(>>> pt.arcsin([0.0, 1.0]).eval()
array([0.        , 1.57079633]))"},
    {"arcsinh", R"(>>> pt.arcsinh([0.0, 1.0]).eval()
array([0.        , 0.88137359]))"},
    {"arctan", R"(>>> pt.arctan([0.0, 1.0]).eval()
array([0.        , 0.78539816]))"},
    {"arctan2", R"(>>> pt.arctan2([1.0, 1.0], [1.0, -1.0]).eval()
array([0.78539816, 2.35619449]))"},
    {"arctanh", R"(>>> pt.arctanh([0.0, 0.5]).eval()
array([0.        , 0.54930614]))"},
    {"beta", R"(>>> pt.special.beta(2.0, [3.0, 4.0]).eval()
array([0.08333333, 0.05      ]))"},
    {"betainc", R"(>>> pt.betainc(2.0, 3.0, [0.25, 0.5]).eval()
array([0.26171875, 0.6875    ]))"},
    {"betainc_density", R"(>>> pt.betainc_density(2.0, 3.0, [0.25, 0.5]).eval()
array([1.6875, 1.5   ]))"},
    {"betainc_derivative", R"(>>> pt.betainc_derivative(2.0, 3.0, [0.25, 0.5]).eval()
array([-0.2280536 , -0.19528869]))"},
    {"betainc_derivative_by_b", R"(>>> pt.betainc_derivative_by_b(2.0, 3.0, [0.25, 0.5]).eval()
array([0.10692153, 0.15410849]))"},
    {"betaincinv", R"(>>> pt.betaincinv(2.0, 3.0, [0.0, 0.6875]).eval()
array([0. , 0.5]))"},
    {"betaln", R"(>>> pt.special.betaln(2.0, [3.0, 300.0]).eval()
array([ -2.48490665, -11.41089274]))"},
    {"cast", R"(>>> pt.cast([1.7, -1.7], "int64").eval()
array([ 1, -1]))"},
    {"cbrt", R"(>>> pt.cbrt([8.0, -27.0]).eval()
array([ 2., -3.]))"},
    {"ceil", R"(>>> pt.ceil([1.2, -1.2]).eval()
array([ 2., -1.]))"},
    {"chi2sf", R"(>>> pt.chi2sf([0.0, 3.84], 1).eval()
array([1.        , 0.05004352]))"},
    {"clip", R"(>>> pt.clip([-1.0, 0.5, 2.0], 0, 1).eval()
array([0. , 0.5, 1. ]))"},
    {"complex", R"(>>> pt.complex([1.0, 2.0], [0.0, -1.0]).eval()
array([1.+0.j, 2.-1.j]))"},
    {"complex_from_polar", R"(>>> pt.complex_from_polar(2.0, [0.0, np.pi]).eval().round(12)
array([ 2.+0.j, -2.+0.j]))"},
    {"copysign", R"(>>> pt.copysign([1.0, 2.0], [-0.0, 3.0]).eval()
array([-1.,  2.]))"},
    {"left_shift", R"(>>> pt.left_shift([1, 5], 2).eval()
array([ 4, 20]))"},
    {"nextafter", R"(>>> pt.nextafter([1.0], 2.0).eval() - 1.0
array([2.22044605e-16]))"},
    {"right_shift", R"(>>> pt.right_shift([9, -9], 2).eval()
array([ 2, -3]))"},
    {"signbit", R"(>>> pt.signbit([-0.0, 0.0]).eval()
array([ True, False]))"},
    {"cos", R"(>>> pt.cos([0.0, np.pi]).eval()
array([ 1., -1.]))"},
    {"cosh", R"(>>> pt.cosh([0.0, 1.0]).eval()
array([1.        , 1.54308063]))"},
    {"deg2rad", R"(>>> pt.deg2rad([90.0, 180.0]).eval()
array([1.57079633, 3.14159265]))"},
    {"eq", R"(>>> pt.eq([1, 2, 3], [1, 0, 3]).eval()
array([ True, False,  True]))"},
    {"erf", R"(>>> pt.erf([0.0, 1.0]).eval()
array([0.        , 0.84270079]))"},
    {"erfc", R"(>>> pt.erfc([0.0, 1.0]).eval()
array([1.        , 0.15729921]))"},
    {"erfcinv", R"(>>> pt.erfcinv([1.0, 0.5]).eval()
array([0.        , 0.47693628]))"},
    {"erfcx", R"(>>> pt.erfcx([0.0, 30.0]).eval()
array([1.        , 0.01879589]))"},
    {"erfinv", R"(>>> pt.erfinv([0.0, 0.5]).eval()
array([0.        , 0.47693628]))"},
    {"exp", R"(>>> pt.exp([0.0, 1.0]).eval()
array([1.        , 2.71828183]))"},
    {"exp2", R"(>>> pt.exp2([3.0, -1.0]).eval()
array([8. , 0.5]))"},
    {"expm1", R"(>>> pt.expm1([0.0, 1e-10]).eval()
array([0.e+00, 1.e-10]))"},
    {"factorial", R"(>>> pt.special.factorial([0, 5]).eval()
array([  1., 120.]))"},
    {"floor", R"(>>> pt.floor([1.8, -1.2]).eval()
array([ 1., -2.]))"},
    {"gamma", R"(>>> pt.gamma([5.0, 0.5]).eval()
array([24.        ,  1.77245385]))"},
    {"gammainc", R"(>>> pt.gammainc(2.0, [1.0, 3.0]).eval()
array([0.26424112, 0.80085173]))"},
    {"gammainc_density", R"(>>> pt.gammainc_density(2.0, [1.0, 2.0]).eval()
array([0.36787944, 0.27067057]))"},
    {"gammainc_derivative", R"(>>> pt.gammainc_derivative(2.0, [1.0, 3.0]).eval()
array([-0.27619605, -0.19742542]))"},
    {"gammaincc", R"(>>> pt.gammaincc(2.0, [1.0, 3.0]).eval()
array([0.73575888, 0.19914827]))"},
    {"gammainccinv", R"(>>> pt.gammainccinv(2.0, [0.5, 1.0]).eval()
array([1.67834699, 0.        ]))"},
    {"gammaincinv", R"(>>> pt.gammaincinv(2.0, [0.0, 0.5]).eval()
array([0.        , 1.67834699]))"},
    {"gammal", R"(>>> pt.gammal(2.0, [1.0, 3.0]).eval()
array([0.26424112, 0.80085173]))"},
    {"gammaln", R"(>>> pt.gammaln([5.0, 500.0]).eval()
array([   3.17805383, 2605.11585036]))"},
    {"gammau", R"(>>> pt.gammau(2.0, [1.0, 3.0]).eval()
array([0.73575888, 0.19914827]))"},
    {"ge", R"(>>> pt.ge([1, 2, 3], 2).eval()
array([False,  True,  True]))"},
    {"gt", R"(>>> pt.gt([1, 2, 3], 2).eval()
array([False, False,  True]))"},
    {"hyp2f1", R"(>>> pt.hyp2f1(1.0, 1.0, 2.0, [0.0, 0.5]).eval()
array([1.        , 1.38629436]))"},
    {"hyp2f1_derivative", R"(>>> pt.hyp2f1_derivative(1.0, 1.0, 2.0, [0.0, 0.5]).eval()
array([0.        , 0.48045301]))"},
    {"hyp2f1_derivative_by_c", R"(>>> pt.hyp2f1_derivative_by_c(1.0, 1.0, 2.0, [0.0, 0.5]).eval()
array([ 0.        , -0.25863971]))"},
    {"hypot", R"(>>> pt.hypot([3.0, 5.0], [4.0, 12.0]).eval()
array([ 5., 13.]))"},
    {"i0", R"(>>> pt.i0([0.0, 1.0]).eval()
array([1.        , 1.26606588]))"},
    {"i1", R"(>>> pt.i1([0.0, 1.0]).eval()
array([0.       , 0.5651591]))"},
    {"int_div", R"(>>> pt.int_div([7, -7], 2).eval()
array([ 3, -4]))"},
    {"invert", R"(>>> pt.invert([True, False]).eval()
array([False,  True]))"},
    {"isfinite", R"(>>> pt.isfinite([1.0, np.inf, np.nan]).eval()
array([ True, False, False]))"},
    {"iv", R"(>>> pt.iv(0.5, [1.0, 2.0]).eval()
array([0.93767489, 2.04623686]))"},
    {"ive", R"(>>> pt.ive(0.5, [1.0, 800.0]).eval()
array([0.34495131, 0.01410474]))"},
    {"ive_derivative", R"(>>> pt.ive_derivative(0.5, [1.0, 2.0]).eval()
array([-0.06449372, -0.05889852]))"},
    {"j0", R"(>>> pt.j0([0.0, 1.0]).eval()
array([1.        , 0.76519769]))"},
    {"j1", R"(>>> pt.j1([0.0, 1.0]).eval()
array([0.        , 0.44005059]))"},
    {"jv", R"(>>> pt.jv(2.0, [1.0, 2.0]).eval()
array([0.11490348, 0.35283403]))"},
    {"kn", R"(>>> pt.kn(2, [1.0, 2.0]).eval()
array([1.6248389 , 0.25375975]))"},
    {"kv", R"(>>> pt.kv(0.5, [1.0, 2.0]).eval()
array([0.4610685 , 0.11993777]))"},
    {"kve", R"(>>> pt.kve(0.5, [1.0, 800.0]).eval()
array([1.25331414, 0.04431135]))"},
    {"kve_derivative", R"(>>> pt.kve_derivative(0.5, [1.0, 2.0]).eval()
array([-0.62665707, -0.22155673]))"},
    {"le", R"(>>> pt.le([1, 2, 3], 2).eval()
array([ True,  True, False]))"},
    {"log", R"(>>> pt.log([1.0, np.e]).eval()
array([0., 1.]))"},
    {"log10", R"(>>> pt.log10([1.0, 1000.0]).eval()
array([0., 3.]))"},
    {"log1mexp", R"(>>> pt.log1mexp([-1.0, -1e-10]).eval()
array([ -0.45867515, -23.02585093]))"},
    {"log1p", R"(>>> pt.log1p([0.0, 1e-10]).eval()
array([0.e+00, 1.e-10]))"},
    {"log2", R"(>>> pt.log2([1.0, 8.0]).eval()
array([0., 3.]))"},
    {"log_ndtr", R"(>>> pt.log_ndtr([0.0, -40.0]).eval()
array([-6.93147181e-01, -8.04608442e+02]))"},
    {"logaddexp", R"(>>> pt.logaddexp([0.0, 1000.0], [0.0, 1000.0]).eval()
array([6.93147181e-01, 1.00069315e+03]))"},
    {"logical_and", R"(>>> pt.logical_and([True, True], [True, False]).eval()
array([ True, False]))"},
    {"logical_not", R"(>>> pt.logical_not([0.0, 2.5]).eval()
array([ True, False]))"},
    {"logical_or", R"(>>> pt.logical_or([True, False], [False, False]).eval()
array([ True, False]))"},
    {"logical_xor", R"(>>> pt.logical_xor([True, True], [True, False]).eval()
array([False,  True]))"},
    {"logit", R"(>>> pt.special.logit([0.5, 0.9]).eval()
array([0.        , 2.19722458]))"},
    {"lt", R"(>>> pt.lt([1, 2, 3], 2).eval()
array([ True, False, False]))"},
    {"maximum", R"(>>> pt.maximum([1.0, 5.0], [3.0, 2.0]).eval()
array([3., 5.]))"},
    {"minimum", R"(>>> pt.minimum([1.0, 5.0], [3.0, 2.0]).eval()
array([1., 2.]))"},
    {"mod", R"(>>> pt.mod([7, -7], 3).eval()
array([1, 2]))"},
    {"mul", R"(>>> pt.mul([1.0, 2.0], 10.0, 100.0).eval()
array([1000., 2000.]))"},
    {"nan_to_num", R"(>>> pt.nan_to_num([1.0, np.nan, np.inf], posinf=9.0).eval()
array([1., 0., 9.]))"},
    {"ndtr", R"(>>> pt.ndtr([0.0, 1.96]).eval()
array([0.5      , 0.9750021]))"},
    {"ndtri_exp", R"(>>> pt.ndtri_exp(pt.log([0.9, 0.975])).eval()
array([1.28155157, 1.95996398]))"},
    {"neg", R"(>>> pt.neg([1.0, -2.0]).eval()
array([-1.,  2.]))"},
    {"neq", R"(>>> pt.neq([1, 2, 3], [1, 0, 3]).eval()
array([False,  True, False]))"},
    {"or_", R"(>>> pt.or_(12, 10).eval()
array(14))"},
    {"owens_t", R"(>>> pt.owens_t(0.5, [0.0, 1.0]).eval()
array([0.        , 0.10667106]))"},
    {"poch", R"(>>> pt.special.poch(3.0, [0, 2]).eval()
array([ 1., 12.]))"},
    {"polygamma", R"(>>> pt.polygamma([1, 2], 1.0).eval()
array([ 1.644934 , -2.4041138], dtype=float32))"},
    {"pow", R"(>>> pt.pow([2.0, 3.0], 3).eval()
array([ 8., 27.]))"},
    {"psi", R"(>>> pt.psi([1.0, 2.0]).eval()
array([-0.57721566,  0.42278434]))"},
    {"rad2deg", R"(>>> pt.rad2deg([np.pi / 2, np.pi]).eval()
array([ 90., 180.]))"},
    {"reciprocal", R"(>>> pt.reciprocal([2.0, 4.0]).eval()
array([0.5 , 0.25]))"},
    {"round_half_away_from_zero", R"(>>> pt.round_half_away_from_zero([0.5, -2.5]).eval()
array([ 1., -3.]))"},
    {"second", R"(>>> pt.second([1.0, 2.0, 3.0], 7.0).eval()
array([7., 7., 7.], dtype=float32))"},
    {"sigmoid", R"(>>> pt.sigmoid([0.0, 2.0]).eval()
array([0.5       , 0.88079708]))"},
    {"sign", R"(>>> pt.sign([-2.0, 0.0, 3.0]).eval()
array([-1.,  0.,  1.]))"},
    {"sin", R"(>>> pt.sin([0.0, np.pi / 2]).eval()
array([0., 1.]))"},
    {"sinh", R"(>>> pt.sinh([0.0, 1.0]).eval()
array([0.        , 1.17520119]))"},
    {"softplus", R"(>>> pt.softplus([0.0, 100.0]).eval()
array([  0.69314718, 100.        ]))"},
    {"sqr", R"(>>> pt.sqr([3.0, -4.0]).eval()
array([ 9., 16.]))"},
    {"sqrt", R"(>>> pt.sqrt([9.0, 2.0]).eval()
array([3.        , 1.41421356]))"},
    {"sub", R"(>>> pt.sub([5.0, 3.0], 1.0).eval()
array([4., 2.]))"},
    {"switch", R"(>>> pt.switch([True, False], [1.0, 2.0], -1.0).eval()
array([ 1., -1.]))"},
    {"tan", R"(>>> pt.tan([0.0, 1.0]).eval()
array([0.        , 1.55740772]))"},
    {"tanh", R"(>>> pt.tanh([0.0, 1.0]).eval()
array([0.        , 0.76159416]))"},
    {"tri_gamma", R"(>>> pt.tri_gamma([1.0, 2.0]).eval()
array([1.64493407, 0.64493407]))"},
    {"true_div", R"(>>> pt.true_div([1, 3], 2).eval()
array([0.5, 1.5]))"},
    {"trunc", R"(>>> pt.trunc([1.8, -1.8]).eval()
array([ 1., -1.]))"},
    {"xlog1py", R"(>>> pt.xlog1py([0.0, 2.0], [-1.0, 1.0]).eval()
array([0.        , 1.38629436]))"},
    {"xlogx", R"(>>> pt.special.xlogx([0.0, np.e]).eval()
array([0.        , 2.71828183]))"},
    {"xlogy", R"(>>> pt.xlogy([0.0, 2.0], [0.0, np.e]).eval()
array([0., 2.]))"},
    {"xor", R"(>>> pt.xor(12, 10).eval()
array(6))"},
  };
  return examples;
}
// clang-format on

}  // namespace bitale::python
