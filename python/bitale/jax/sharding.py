"""shard: a function over many devices, partitioned by XLA according to the shardings of its arguments and results."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from bitale.jax.linker import jax_package
from bitale.jax.primitive import as_jax


def shard(function: Any, mesh: Any, in_specs: Sequence[Any], out_specs: Any) -> Callable[..., Any]:
    """The function of ``as_jax``, compiled for the devices of a mesh.

    mesh: a ``jax.sharding.Mesh``. in_specs: a ``PartitionSpec`` per input: which axis of the mesh
    divides each dimension. out_specs: one for the output, or a list of them, one per output. XLA's
    partitioner decides what each device computes and where they exchange results; for example, a
    sum over divided rows becomes an all-reduce. Arguments are divided according to in_specs;
    results are JAX arrays divided according to out_specs. This also works over several processes
    joined by ``jax.distributed.initialize``, with arguments made by ``from_processes``.

    ValueError if the number of specs differs from that of the inputs or outputs, for an axis that
    the mesh does not have, or, in the call, for a length that is not divisible by the number of
    devices along its axis; otherwise as ``as_jax``.
    """
    jax = jax_package()
    in_specs = list(in_specs)
    if len(in_specs) != len(function.inputs):
        raise ValueError(
            f"shard: expected {len(function.inputs)} in_specs, one per input, got {len(in_specs)}"
        )
    specs = list(out_specs) if isinstance(out_specs, list) else out_specs
    if isinstance(specs, list) and len(specs) != len(function.fgraph.outputs):
        raise ValueError(
            f"shard: expected {len(function.fgraph.outputs)} out_specs, one per output, got {len(specs)}"
        )

    def sharding(spec: Any) -> Any:
        return jax.sharding.NamedSharding(mesh, spec)

    compiled: Callable[..., Any] = jax.jit(
        as_jax(function),
        in_shardings=tuple(sharding(spec) for spec in in_specs),
        out_shardings=[sharding(spec) for spec in specs]
        if isinstance(specs, list)
        else sharding(specs),
    )
    return compiled
