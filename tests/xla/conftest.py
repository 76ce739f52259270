"""Sets up eight devices in one process and 64-bit numbers in jax arrays, before JAX is imported.

The tests run on processors unless JAX_PLATFORMS names another platform first ("cuda,cpu"). What needs LAPACK, which XLA calls
on processors only, is then skipped; meshes are of processors everywhere.
"""

import os

os.environ["XLA_FLAGS"] = (
    f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
)
os.environ["JAX_PLATFORMS"] = os.environ.get("JAX_PLATFORMS", "cpu")

import jax
import pytest

jax.config.update("jax_enable_x64", True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except NotImplementedError as error:
        if jax.default_backend() == "cpu" or "LAPACK" not in str(error):
            raise
        pytest.skip(f"not on this platform: {error}".splitlines()[0])
