"""Sets up eight devices in one process and 64-bit numbers in jax arrays, before JAX is imported."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = os.environ.get("JAX_PLATFORMS", "cpu")

import jax

jax.config.update("jax_enable_x64", True)
