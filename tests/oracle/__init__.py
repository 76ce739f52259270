"""Plain NumPy and SciPy formulas for every function and op of the library.

`oracle.functions` has the names of bitale.tensor, so that the text of an expression means the same in both; a test
fails for a public function without a formula here. `oracle.ops` evaluates graphs of the library op by op, including
gradients and rewritten graphs. Nothing here calls the library's own arithmetic.
"""
