"""Random graphs over the whole language, compared with the oracle (tests/oracle) in every configuration in which a graph runs.

A graph is stored as text: inputs with values, and a list of assignments in the notation of `bitale.tensor`. The same
text is evaluated with symbolic variables and, by the oracle, with arrays, and is printed as a script that reproduces a
failure. Run it with `python -m fuzz` in tests/, or with `./dev fuzz`.
"""
