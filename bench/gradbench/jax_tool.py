#!/usr/bin/env python3
"""GradBench's evals in JAX, as a tool of their protocol, for the table."""

from jax_evals import EVALS
from protocol import serve

if __name__ == "__main__":
    serve("jax", EVALS)
