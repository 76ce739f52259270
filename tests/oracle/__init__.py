"""What every function and op of the library computes, said in plain NumPy and SciPy.

`oracle.functions` has the names of bitale.tensor, so that the text of an expression means the same in both; a test fails
for a public function that has no formula here. `oracle.ops` evaluates graphs of the library, op by op: gradients, and what
rewriting has left. Nothing here calls the library's own arithmetic.
"""
