// Examples of functions of whole tensors, for their docstrings; tests/python/test_ergonomics.py runs them.
#include "examples.hpp"

namespace bitale::python {

// clang-format off
const Examples& tensors_examples() {
  static const Examples examples{
    {"all", R"(>>> pt.all([[True, False], [True, True]], axis=1).eval()
array([False,  True]))"},
    {"alloc", R"(>>> pt.alloc(1.5, 2, 2).eval()
array([[1.5, 1.5],
       [1.5, 1.5]], dtype=float32))"},
    {"any", R"(>>> pt.any([[True, False], [False, False]], axis=1).eval()
array([ True, False]))"},
    {"argmax", R"(>>> pt.argmax([[1.0, 5.0], [4.0, 2.0]], axis=1).eval()
array([1, 0]))"},
    {"argmin", R"(>>> pt.argmin([3.0, 1.0, 2.0]).eval()
array(1))"},
    {"argsort", R"(>>> pt.argsort([3.0, 1.0, 2.0]).eval()
array([1, 2, 0]))"},
    {"assume", R"(>>> A = pt.assume(pt.dmatrix("A"), symmetric=True)
>>> A.type.ndim
2)"},
    {"bincount", R"(>>> pt.bincount(np.array([0, 1, 1, 3])).eval()
array([1, 2, 0, 1]))"},
    {"broadcast_arrays", R"(>>> [x.eval().tolist() for x in pt.broadcast_arrays([[1], [2]], [10, 20])]
[[[1, 1], [2, 2]], [[10, 20], [10, 20]]])"},
    {"broadcast_shape", R"(>>> x, y = pt.TensorType("float64", (3, 1))(), pt.TensorType("float64", (1, 4))()
>>> [n.eval() for n in pt.broadcast_shape(x, y)]
[array(3), array(4)])"},
    {"broadcast_to", R"(>>> pt.broadcast_to([1, 2], (2, 2)).eval()
array([[1, 2],
       [1, 2]]))"},
    {"choose", R"(>>> pt.choose([0, 1, 0], [[1, 2, 3], [10, 20, 30]]).eval()
array([ 1, 20,  3]))"},
    {"compress", R"(>>> pt.compress([True, False, True], [10, 20, 30]).eval()
array([10, 30]))"},
    {"cumprod", R"(>>> pt.cumprod([[1, 2], [3, 4]], axis=0).eval()
array([[1, 2],
       [3, 8]]))"},
    {"cumsum", R"(>>> pt.cumsum([1, 2, 3]).eval()
array([1, 3, 6]))"},
    {"dense_dot", R"(>>> pt.dense_dot(np.array([[1.0, 2.0]]), np.array([3.0, 4.0])).eval()
array([11.]))"},
    {"diag", R"(>>> pt.diag([1.0, 2.0]).eval()
array([[1., 0.],
       [0., 2.]])
>>> pt.diag([[1.0, 2.0], [3.0, 4.0]]).eval()
array([1., 4.]))"},
    {"diagonal", R"(>>> pt.diagonal([[1, 2], [3, 4]]).eval()
array([1, 4]))"},
    {"diff", R"(>>> pt.diff([1, 4, 9, 16]).eval()
array([3, 5, 7]))"},
    {"digitize", R"(>>> pt.digitize([0.5, 1.5, 2.5], [1.0, 2.0]).eval()
array([0, 1, 2]))"},
    {"dimshuffle", R"(>>> x = pt.dmatrix("x")
>>> pt.dimshuffle(x, 1, "x", 0).type.shape
(None, 1, None)
>>> pt.dimshuffle(x, 1, 0).eval({x: [[1.0, 2.0]]})
array([[1.],
       [2.]]))"},
    {"dot", R"(>>> pt.dot([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).eval()
array([3., 7.]))"},
    {"empty", R"(>>> pt.empty((2, 3)).eval().shape
(2, 3))"},
    {"empty_like", R"(>>> pt.empty_like(np.ones((2, 3))).eval().shape
(2, 3))"},
    {"expand_dims", R"(>>> pt.expand_dims([1, 2], 1).eval()
array([[1],
       [2]]))"},
    {"extract_diag", R"(>>> pt.extract_diag([[1, 2], [3, 4]], offset=1).eval()
array([2]))"},
    {"eye", R"(>>> pt.eye(2, 3, k=1).eval()
array([[0., 1., 0.],
       [0., 0., 1.]]))"},
    {"fill_diagonal", R"(>>> pt.fill_diagonal(np.ones((2, 2)), 0.0).eval()
array([[0., 1.],
       [1., 0.]]))"},
    {"fill_diagonal_offset", R"(>>> pt.fill_diagonal_offset(np.zeros((2, 2)), 5.0, 1).eval()
array([[0., 5.],
       [0., 0.]]))"},
    {"flatnonzero", R"(>>> pt.flatnonzero([[0, 1], [2, 0]]).eval()
array([1, 2]))"},
    {"flatten", R"(>>> pt.flatten([[1, 2], [3, 4]]).eval()
array([1, 2, 3, 4]))"},
    {"flip", R"(>>> pt.flip([1, 2, 3]).eval()
array([3, 2, 1]))"},
    {"function", R"(>>> x, y = pt.dvectors("x", "y")
>>> f = bt.function([x, y], [x + y, pt.dot(x, y)])
>>> f([1.0, 2.0], [3.0, 4.0])
[array([4., 6.]), array(11.)])"},
    {"get_mode", R"(>>> bt.get_mode("VM").linker
VMLinker())"},
    {"geomspace", R"(>>> pt.geomspace(1.0, 8.0, 4).eval()
array([1., 2., 4., 8.]))"},
    {"get_scalar_constant_value", R"(>>> pt.get_scalar_constant_value(pt.constant(3))
array(3, dtype=int8))"},
    {"get_underlying_scalar_constant_value", R"(>>> pt.get_underlying_scalar_constant_value(pt.constant(3))
array(3, dtype=int8))"},
    {"get_vector_length", R"(>>> pt.get_vector_length(pt.dmatrix().shape)
2)"},
    {"identity", R"(>>> pt.identity([1, 2]).eval()
array([1, 2]))"},
    {"inverse_permutation", R"(>>> pt.inverse_permutation([2, 0, 1]).eval()
array([1, 2, 0]))"},
    {"iround", R"(>>> pt.iround([0.4, 1.6]).eval()
array([0, 2]))"},
    {"is_flat", R"(>>> pt.is_flat(pt.dvector()), pt.is_flat(pt.dmatrix())
(True, False))"},
    {"isinf", R"(>>> pt.isinf([1.0, np.inf]).eval()
array([False,  True]))"},
    {"isnan", R"(>>> pt.isnan([1.0, np.nan]).eval()
array([False,  True]))"},
    {"join", R"(>>> pt.join(0, [1, 2], [3]).eval()
array([1, 2, 3]))"},
    {"join_dims", R"(>>> pt.join_dims(np.ones((2, 3, 4)), start_axis=1).type.shape
(2, 12))"},
    {"kron", R"(>>> pt.linalg.kron([[1, 2]], [[1, 1], [0, 1]]).eval()
array([[1, 1, 2, 2],
       [0, 1, 0, 2]]))"},
    {"linspace", R"(>>> pt.linspace(0.0, 1.0, 5).eval()
array([0.  , 0.25, 0.5 , 0.75, 1.  ]))"},
    {"log_softmax", R"(>>> pt.log_softmax([0.0, 1000.0]).eval()
array([-1000.,     0.]))"},
    {"logspace", R"(>>> pt.logspace(0.0, 2.0, 3).eval()
array([  1.,  10., 100.]))"},
    {"logsumexp", R"(>>> pt.logsumexp([1000.0, 1000.0]).eval()
array(1000.69314718))"},
    {"make_vector", R"(>>> x = pt.dscalar("x")
>>> pt.make_vector(x, x + 1).eval({x: 2.0})
array([2., 3.]))"},
    {"matmul", R"(>>> pt.matmul([[1.0, 2.0]], [[3.0], [4.0]]).eval()
array([[11.]]))"},
    {"matvec", R"(>>> pt.matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).eval()
array([3., 7.]))"},
    {"max", R"(>>> pt.max([[1.0, 5.0], [4.0, 2.0]], axis=0).eval()
array([4., 5.]))"},
    {"mean", R"(>>> pt.mean([[1.0, 3.0], [5.0, 7.0]], axis=0).eval()
array([3., 5.]))"},
    {"median", R"(>>> pt.median([[1.0, 9.0, 2.0], [4.0, 5.0, 6.0]], axis=1).eval()
array([2., 5.]))"},
    {"min", R"(>>> pt.min([[1.0, 5.0], [4.0, 2.0]], axis=1, keepdims=True).eval()
array([[1.],
       [2.]]))"},
    {"meshgrid", R"(>>> [x.eval().tolist() for x in pt.meshgrid([1, 2, 3], [10, 20])]
[[[1, 2, 3], [1, 2, 3]], [[10, 10, 10], [20, 20, 20]]])"},
    {"nonzero", R"(>>> [indices.eval().tolist() for indices in pt.nonzero([[1, 0], [0, 2]])]
[[0, 1], [0, 1]])"},
    {"nonzero_values", R"(>>> pt.nonzero_values([[0, 1], [2, 0]]).eval()
array([1, 2]))"},
    {"ones", R"(>>> pt.ones((2, 2), dtype="int64").eval()
array([[1, 1],
       [1, 1]]))"},
    {"ones_like", R"(>>> pt.ones_like([[1.0, 2.0]]).eval()
array([[1., 1.]]))"},
    {"outer", R"(>>> pt.outer([1, 2], [10, 20]).eval()
array([[10, 20],
       [20, 40]]))"},
    {"pack", R"(>>> flat, shapes = pt.pack(pt.dscalar(), pt.dmatrix())
>>> flat.ndim
1)"},
    {"pad", R"(>>> x = pt.dvector("x")
>>> pt.pad(x, 2, mode="reflect", reflect_type="odd").eval({x: [1.0, 2.0, 4.0]})
array([-2.,  0.,  1.,  2.,  4.,  6.,  7.]))"},
    {"percentile", R"(>>> pt.percentile([1.0, 2.0, 3.0, 4.0], 50).eval()
array(2.5))"},
    {"prod", R"(>>> pt.prod([[1, 2], [3, 4]], axis=1).eval()
array([ 2, 12]))"},
    {"quantile", R"(>>> pt.quantile([1.0, 2.0, 3.0, 4.0], [0.25, 0.5]).eval()
array([1.75, 2.5 ]))"},
    {"ravel_multi_index", R"(>>> pt.ravel_multi_index(([0, 1], [2, 0]), (2, 3)).eval()
array([2, 3]))"},
    {"register_mode", R"(>>> from bitale.compile.mode import register_mode
>>> register_mode("ONE_BY_ONE", bt.Mode("vm"))
>>> x = pt.dscalar("x")
>>> bt.function([x], x + 1, mode="ONE_BY_ONE")(1.0)
array(2.))"},
    {"repeat", R"(>>> pt.repeat([1, 2], [1, 3]).eval()
array([1, 2, 2, 2]))"},
    {"reshape", R"(>>> pt.reshape([1, 2, 3, 4], (2, -1)).eval()
array([[1, 2],
       [3, 4]]))"},
    {"roll", R"(>>> pt.roll([1, 2, 3, 4], 1).eval()
array([4, 1, 2, 3]))"},
    {"rot90", R"(>>> pt.rot90([[1, 2], [3, 4]]).eval()
array([[2, 4],
       [1, 3]]))"},
    {"round", R"(>>> pt.round([0.5, 1.5, 2.6]).eval()
array([0., 2., 3.]))"},
    {"scalar_from_tensor", R"(>>> pt.scalar_from_tensor(3.0).eval()
array(3., dtype=float32))"},
    {"searchsorted", R"(>>> pt.searchsorted([1.0, 3.0, 5.0], [3.0, 4.0]).eval()
array([1, 2]))"},
    {"sgn", R"(>>> pt.sgn([-2.0, 0.0, 3.0]).eval()
array([-1.,  0.,  1.]))"},
    {"shape", R"(>>> x = pt.dmatrix("x")
>>> pt.shape(x).eval({x: [[1.0, 2.0, 3.0]]})
array([1, 3]))"},
    {"shape_i", R"(>>> x = pt.dmatrix("x")
>>> pt.shape_i(x, 1).eval({x: [[1.0, 2.0, 3.0]]})
array(3))"},
    {"slice_at_axis", R"(>>> x = pt.dmatrix()
>>> x[pt.slice_at_axis(slice(1), axis=1)].type.shape
(None, None))"},
    {"softmax", R"(>>> pt.softmax([[1.0, 1.0], [0.0, np.log(3.0)]], axis=-1).eval()
array([[0.5 , 0.5 ],
       [0.25, 0.75]]))"},
    {"sort", R"(>>> pt.sort([[3.0, 1.0, 2.0]]).eval()
array([[1., 2., 3.]]))"},
    {"specify_broadcastable", R"(>>> pt.specify_broadcastable(pt.dmatrix(), 1).type.shape
(None, 1))"},
    {"specify_shape", R"(>>> x = pt.dvector("x")
>>> pt.specify_shape(x, (3,)).type.shape
(3,))"},
    {"split", R"(>>> [part.eval().tolist() for part in pt.split([1, 2, 3, 4, 5], [2, 3])]
[[1, 2], [3, 4, 5]])"},
    {"split_dims", R"(>>> pt.split_dims([1, 2, 3, 4], (2, 2)).eval()
array([[1, 2],
       [3, 4]]))"},
    {"squeeze", R"(>>> pt.squeeze([[1], [2]]).eval()
array([1, 2]))"},
    {"stacklists", R"(>>> pt.stacklists([[1, 2], [3, 4]]).eval()
array([[1, 2],
       [3, 4]]))"},
    {"std", R"(>>> pt.std([1.0, 3.0]).eval()
array(1.))"},
    {"sum", R"(>>> pt.sum([[1, 2], [3, 4]], axis=0).eval()
array([4, 6]))"},
    {"take", R"(>>> pt.take([[1, 2], [3, 4]], [1, 0], axis=1).eval()
array([[2, 1],
       [4, 3]]))"},
    {"take_along_axis", R"(>>> x = np.array([[3.0, 1.0, 2.0]])
>>> pt.take_along_axis(x, pt.argsort(x, axis=1), axis=1).eval()
array([[1., 2., 3.]]))"},
    {"tensor_copy", R"(>>> x = pt.dscalar("x")
>>> y = pt.tensor_copy(x)
>>> bt.grad(y**2 - x**2, y).eval({x: 3.0})
array(6.))"},
    {"tensor_from_scalar", R"(>>> pt.tensor_from_scalar(3.0).eval()
array(3., dtype=float32))"},
    {"tensordot", R"(>>> pt.tensordot([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]], axes=2).eval()
array(5.))"},
    {"tile", R"(>>> pt.tile([1, 2], 2).eval()
array([1, 2, 1, 2]))"},
    {"trace", R"(>>> pt.trace([[1, 2], [3, 4]]).eval()
array(5))"},
    {"transpose", R"(>>> pt.transpose([[1, 2], [3, 4]]).eval()
array([[1, 3],
       [2, 4]]))"},
    {"tri", R"(>>> pt.tri(3).eval()
array([[1., 0., 0.],
       [1., 1., 0.],
       [1., 1., 1.]]))"},
    {"tril", R"(>>> pt.tril([[1, 2], [3, 4]]).eval()
array([[1, 0],
       [3, 4]]))"},
    {"triu", R"(>>> pt.triu([[1, 2], [3, 4]]).eval()
array([[1, 2],
       [0, 4]]))"},
    {"unpack", R"(>>> flat, shapes = pt.pack(pt.constant([[1.0, 2.0]]), pt.constant(3.0))
>>> [each.eval().tolist() for each in pt.unpack(flat, shapes)]
[[[1.0, 2.0]], 3.0])"},
    {"unravel_index", R"(>>> [indices.eval().tolist() for indices in pt.unravel_index([2, 3], (2, 3))]
[[0, 1], [2, 0]])"},
    {"var", R"(>>> pt.var([1.0, 2.0, 3.0, 4.0], ddof=1).eval()
array(1.66666667))"},
    {"vecdot", R"(>>> pt.vecdot([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).eval()
array([3., 7.]))"},
    {"vecmat", R"(>>> pt.vecmat([1.0, 1.0], [[1.0, 2.0], [3.0, 4.0]]).eval()
array([4., 6.]))"},
    {"vectorize", R"example(>>> import bitale.tensor as pt
>>> norm = pt.vectorize(lambda x: pt.sqrt((x**2).sum()), "(n)->()")
>>> norm(pt.as_tensor([[3.0, 4.0], [6.0, 8.0]])).eval()
array([ 5., 10.]))example"},
    {"zeros", R"(>>> pt.zeros((2, 2)).eval()
array([[0., 0.],
       [0., 0.]]))"},
    {"zeros_like", R"(>>> pt.zeros_like([[1, 2], [3, 4]]).eval()
array([[0, 0],
       [0, 0]]))"},
  };
  return examples;
}
// clang-format on

}  // namespace bitale::python
