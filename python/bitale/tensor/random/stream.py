"""RandomStream: draws without explicit generators. Each draw has its own, seeded from the seed of the stream."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from bitale import random
from bitale.tensor.random import basic
from bitale.tensor.random.variable import shared_rng


class RandomStream:
    """Source of draws that are drawn anew in each call of a function.

    ``stream = RandomStream(1); x = stream.normal(0, 1, size=3)``. Each draw has its own
    counter-based stream (`bitale.random.stream`), whose key comes from a child of
    ``numpy.random.SeedSequence(seed)``.

    Parameters
    ----------
    seed : object, optional
        Seed.
    namespace : module or sequence of objects, optional
        Where to find more functions that take `rng` and `return_next_rng`.
    rng_ctor : callable
        Makes a generator from a SeedSequence; with ``numpy.random.default_rng``
        the draws are those of PyTensor's RandomStream with the same seed.
    """

    def __init__(
        self,
        seed: Any = None,
        namespace: Any = None,
        rng_ctor: Callable[[Any], Any] = random.stream,
    ):
        self.default_instance_seed = seed
        self.namespace = namespace
        self.rng_ctor = rng_ctor
        self.gen_seedgen = np.random.SeedSequence(seed)
        self.state_updates: list[tuple[Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "namespace":
            raise AttributeError(name)
        found = (
            getattr(self.namespace, name, None)
            if self.namespace is not None
            else basic.METHODS.get(name)
        )
        if found is None:
            raise AttributeError(f"RandomStream: there is no distribution {name}")
        return lambda *args, **kwargs: self.gen(found, *args, **kwargs)

    def updates(self) -> list[tuple[Any, Any]]:
        """The generators, and their states after the draws."""
        return list(self.state_updates)

    def seed(self, seed: Any = None) -> None:
        """Reseeds all generators, from seed or from the initial seed of the stream."""
        self.gen_seedgen = np.random.SeedSequence(
            self.default_instance_seed if seed is None else seed
        )
        for (rng, _), child in zip(
            self.state_updates, self.gen_seedgen.spawn(len(self.state_updates))
        ):
            rng.set_value(self.rng_ctor(child))

    def gen(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """A draw by a function that takes rng and return_next_rng, from a separate generator."""
        if "rng" in kwargs:
            raise ValueError("RandomStream: gen takes no rng: the stream supplies it")
        (child,) = self.gen_seedgen.spawn(1)
        rng = shared_rng(self.rng_ctor(child))
        next_rng, out = op(*args, **kwargs, rng=rng, return_next_rng=True)
        rng.default_update = next_rng
        self.state_updates.append((rng, next_rng))
        return out
