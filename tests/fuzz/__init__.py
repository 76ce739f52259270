"""Random graphs over the whole language, compared with the oracle (tests/oracle) in every way that runs a graph.

A graph is text: inputs with values, and a list of assignments in the notation of `bitale.tensor`. The same text is
evaluated with symbolic variables and, by the oracle, with arrays, and is printed as the script that shows a failure.
`python -m fuzz` (in tests/) runs; `./dev fuzz` calls it.
"""
