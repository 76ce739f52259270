"""Random chains of labelled functions against xarray: values, dimensions, coordinates, and what is refused.

    python -m fuzz.labelled [--seconds S | --programs N] [--seed FIRST]

Coordinates rise, fall, are in no order, repeat, and have nan; texts, dates and numbers. What xarray refuses must be
refused here, too.
"""

import inspect
import itertools

import numpy as np
import scipy.linalg
import xarray as xr

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px

from . import programs

LENGTHS = {"a": 2, "b": 3, "c": 4, "d": 5}
COORDS = {"b": [10.0, 20.0, 40.0], "d": list("vwxyz")}
REFUSALS = (KeyError, ValueError, TypeError, IndexError, NotImplementedError)
UNARY = {
    "exp": lambda x: np.exp(x), "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "arctan": np.arctan, "sqr": np.square, "neg": np.negative,
    "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "sign": np.sign, "exp2": np.exp2, "deg2rad": np.deg2rad,
    "isnan": np.isnan, "expm1": np.expm1, "arcsinh": np.arcsinh,
}  # fmt: skip
SMOOTH = ("exp", "sin", "cos", "tanh", "arctan", "sqr", "neg", "deg2rad", "arcsinh")
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "lt": np.less, "ge": np.greater_equal,
    "arctan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp, "eq": np.equal,
}  # fmt: skip
SMOOTH_BINARY = ("add", "sub", "mul", "logaddexp")
STEPS = ("floor", "ceil", "trunc")
REDUCTIONS = ("sum", "mean", "prod", "max", "min", "var", "std", "any", "all", "argmax")
ARITY = {
    "where": 3,
    "switch": 3,
    "clip": 3,
    "betainc": 3,
    "betaincinv": 3,
    "hyp2f1": 4,
    "logaddexp": 2,
    "and_": 2,
    "or_": 2,
}
BOOLEAN = (
    "and_",
    "or_",
    "xor",
    "invert",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_not",
    "bitwise_invert",
)
SMOOTH_REDUCTIONS = ("sum", "mean", "var")


class Generator:
    """Pairs of a labelled expression and the value that xarray computes for it."""

    def __init__(self, seed, is_smooth=False):
        self.rng, self.is_smooth, self.inputs, self.counter = (
            np.random.default_rng(seed),
            is_smooth,
            [],
            itertools.count(),
        )
        self.coords = COORDS
        if not is_smooth:
            self.coords = {
                name: self.labels(length)
                for name, length in LENGTHS.items()
                if self.rng.random() < 0.6
            }
        self.nodes = [self.leaf() for _ in range(4)]

    def labels(self, length):
        """Distinct labels of any kind and in any order, or some of them repeated or missing."""
        numbers = np.sort(self.rng.permutation(8)[:length])
        made = self.pick(
            [
                10.0 * numbers,
                10 * numbers,
                np.array(list("stuvwxyz"))[numbers],
                np.datetime64("2020-01-30") + numbers,
            ]
        )
        order = self.rng.integers(6)
        if order == 1:
            return made[::-1]
        if order == 2:
            return self.rng.permutation(made)
        if order == 3:
            return made[np.sort(self.rng.integers(0, length, length))]
        if order == 4:
            return made[self.rng.integers(0, length, length)]
        if order == 5 and made.dtype.kind == "f":
            made[self.rng.integers(length)] = np.nan
        return made

    def both(self, mine, theirs):
        """A pair of what both compute, or None where both refuse."""
        try:
            expected = theirs()
        except Exception as error:
            try:
                made = mine()
            except REFUSALS:
                return None
            raise AssertionError(f"xarray refuses with {error!r}, but here is {made!r}") from error
        try:
            return mine(), expected
        except NotImplementedError:
            return None

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def leaf(self):
        names = [
            str(each) for each in self.rng.permutation(list(LENGTHS))[: self.rng.integers(1, 4)]
        ]
        coords = {
            name: self.coords[name]
            for name in names
            if name in self.coords and self.rng.random() < 0.8
        }
        value = xr.DataArray(
            self.rng.normal(size=[LENGTHS[name] for name in names]), dims=names, coords=coords
        )
        x = px.xtensor(
            f"x{len(self.inputs)}", dims=[px.Dim(name, coords=coords.get(name)) for name in names]
        )
        self.inputs.append((x, value))
        return x, value

    def fitting(self, value):
        """The nodes whose common dimensions with a value have the same lengths and coordinates."""

        def fits(other):
            return all(
                value.sizes[name] == other.sizes[name]
                and not (
                    name in value.coords
                    and name in other.coords
                    and not value.indexes[name].equals(other.indexes[name])
                )
                for name in set(value.dims) & set(other.dims)
            )

        return [pair for pair in self.nodes if fits(pair[1])]

    # Each kind of step returns a pair, or None where it is not possible.
    def unary(self):
        x, value = self.pick(self.nodes)
        name = self.pick(SMOOTH if self.is_smooth else tuple(UNARY))
        value = (
            value.astype("float64") if value.dtype.kind in "bO" else value
        )  # xarray: bools with holes are objects
        x = x if x.dtype != "bool" else x.astype("float64")
        scaled = px.math.tanh(x), np.tanh(value)
        whole = np.round(scaled[1].values)
        if name in STEPS and np.any(
            np.isclose(scaled[1].values, whole) & (scaled[1].values != whole)
        ):
            return None  # rounding decides on which side of the step it is
        return getattr(px.math, name)(scaled[0]), xr.apply_ufunc(UNARY[name], scaled[1])

    def binary(self):
        x, value = self.pick(self.nodes)
        y, other = self.pick(self.fitting(value))
        name = self.pick(SMOOTH_BINARY if self.is_smooth else tuple(BINARY))
        return getattr(px.math, name)(x.astype("float64"), y.astype("float64")), xr.apply_ufunc(
            BINARY[name], value.astype(float), other.astype(float)
        )

    def where(self):
        x, value = self.pick(self.nodes)
        y, other = self.pick(self.fitting(value))
        if self.rng.integers(2) and not self.is_smooth:
            if len(set(value.dims) | set(other.dims)) > 4:
                return None
            return x.astype("float64").where(y > 0), value.astype(float).where(other > 0)
        if not set(other.dims) <= set(value.dims):
            return None
        return px.where(y > 0, x.astype("float64"), 0.25), xr.where(
            other > 0, value.astype(float), 0.25
        )

    def reduction(self):
        x, value = self.pick(self.nodes)
        if not value.dims or 0 in value.shape:
            return None
        name = self.pick(SMOOTH_REDUCTIONS if self.is_smooth else REDUCTIONS)
        if name == "argmax":
            dim = self.pick(value.dims)
            if value.sizes[dim] > 1:
                rows = np.moveaxis(value.astype(float).values, value.get_axis_num(dim), -1)
                largest = np.sort(rows)[..., -2:]
                if np.isclose(largest[..., 0], largest[..., 1]).any():
                    return None  # rounding decides which of them is the largest
            return x.astype("float64").argmax(dim), value.astype(float).argmax(dim, skipna=False)
        dims = [
            str(each)
            for each in self.rng.permutation(value.dims)[
                : self.rng.integers(1, len(value.dims) + 1)
            ]
        ]
        if name in ("any", "all"):
            return getattr(x > 0, name)(dims), getattr(value > 0, name)(dims)
        return getattr(x.astype("float64"), name)(dims), getattr(value.astype(float), name)(
            dims, skipna=False
        )

    def cumulative(self):
        x, value = self.pick(self.nodes)
        if not value.dims:
            return None
        dim = self.pick(value.dims)
        return x.astype("float64").cumsum(dim), value.astype(float).cumsum(dim, skipna=False)

    def transpose(self):
        x, value = self.pick(self.nodes)
        names = [str(each) for each in self.rng.permutation(value.dims)]
        return (x.transpose(*names), value.transpose(*names)) if names else None

    def rename(self):
        x, value = self.pick(self.nodes)
        if not value.dims:
            return None
        names = {self.pick(value.dims): f"n{next(self.counter)}"}
        return x.rename(names), value.rename(names)

    def expand(self):
        x, value = self.pick(self.nodes)
        name = f"n{next(self.counter)}"
        how = self.pick([name, {name: 2}, {name: [1.0, 5.0]}])
        return (x.expand_dims(how), value.expand_dims(how)) if len(value.dims) < 4 else None

    def stack(self):
        x, value = self.pick(self.nodes)
        if len(value.dims) < 2 or 0 in value.shape:
            return None
        names, new = (
            [str(each) for each in self.rng.permutation(value.dims)[:2]],
            f"n{next(self.counter)}",
        )
        return x.stack({new: names}), value.stack({new: names}, create_index=False).drop_vars(
            names, errors="ignore"
        )

    def index(self):
        x, value = self.pick(self.nodes)
        if not value.dims:
            return None
        indexers, theirs = {}, {}
        for name in value.dims:
            length = value.sizes[name]
            kind = self.rng.integers(5) if length else 4
            if kind == 0:
                indexers[name] = theirs[name] = int(self.rng.integers(-length, length))
            elif kind == 1:
                indexers[name] = theirs[name] = self.pick(
                    [slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1)]
                )
            elif kind == 2:
                indexers[name] = theirs[name] = self.rng.integers(0, length, 3).tolist()
            elif kind == 3:
                positions = self.rng.integers(0, length, 3)
                indexers[name], theirs[name] = (
                    px.as_xtensor(positions, dims="point"),
                    xr.DataArray(positions, dims="point"),
                )
        if "point" in value.dims and any(
            isinstance(each, xr.DataArray) for each in theirs.values()
        ):
            return None
        return x.isel(indexers), value.isel(theirs)

    def near(self, label):
        """A label, or what lies between it and its neighbours."""
        if isinstance(label, str):
            return self.pick([label, label + "5"])
        if isinstance(label, (np.datetime64, np.bool_)):
            return label
        return self.pick([label, label - 3, label + 4])

    def select(self):
        x, value = self.pick(self.nodes)
        names = [
            name
            for name in value.dims
            if name in value.indexes and value.sizes[name] and value.indexes[name].nlevels == 1
        ]
        if not names:
            return None
        name = self.pick(names)
        labels = list(value.indexes[name].values)
        which = self.rng.integers(4)
        options = {}
        if which == 0:
            key = self.near(self.pick(labels))
        elif which == 1:
            key = [self.near(self.pick(labels)) for _ in range(self.rng.integers(1, 4))]
        elif which == 2:
            ends = [self.pick([None, self.near(self.pick(labels))]) for _ in range(2)]
            key = slice(*ends, self.pick([None, None, 1, 2, -1, -2]))
            index = value.indexes[name]
            has_order = index.is_monotonic_increasing or index.is_monotonic_decreasing
            if index.dtype.kind == "M" and (not has_order or ends == [None, None]):
                return None  # pandas has rules of its own for these
        else:
            key = xr.DataArray([self.pick(labels) for _ in range(2)], dims="found")
            if "found" in value.dims:
                return None
        if which in (1, 3) and not value.indexes[name].is_unique:
            return None  # refused by xarray even where the labels that are asked for are at one position each
        # (With a nan, pandas finds the nearest only where the labels that are asked for are all of the index.)
        # (Of bools pandas takes differences, which NumPy refuses.)
        has_distances = not value.indexes[name].hasnans and value.indexes[name].dtype.kind != "b"
        if which != 2 and has_distances and self.rng.random() < 0.5:
            options["method"] = self.pick(["nearest", "pad", "ffill", "backfill", "bfill"])
            if self.rng.random() < 0.5 and value.indexes[name].dtype.kind in "if":
                options["tolerance"] = self.pick([3, 4.5, 30])
        return self.both(
            lambda: x.sel({name: key}, **options), lambda: value.sel({name: key}, **options)
        )

    def dot(self):
        x, value = self.pick(self.nodes)
        y, other = self.pick(self.fitting(value))
        common = [name for name in value.dims if name in other.dims]
        if not common or 0 in value.shape:
            return None
        dim = self.pick([None, common[0], ...])
        return px.dot(x.astype("float64"), y.astype("float64"), dim), xr.dot(
            value.astype(float), other.astype(float), dim=common if dim is None else dim
        )

    def concat(self):
        x, value = self.pick(self.nodes)
        if not value.dims:
            return None
        dim = self.pick([*value.dims, f"n{next(self.counter)}"])
        return px.concat([x, x], dim), xr.concat([value, value], dim)

    def window(self):
        x, value = self.pick(self.nodes)
        if not value.dims:
            return None
        dim = self.pick(value.dims)
        x, value = x.astype("float64"), value.astype(float)
        if value.sizes[dim] < 2:
            return None
        which = self.rng.integers(6)
        if which == 3 and self.is_smooth:  # there are no differences of nan
            which = 4
        if which == 0:
            return x.shift({dim: 1}, fill_value=0.0), value.shift({dim: 1}, fill_value=0.0)
        if which == 1:
            label = self.pick(["upper", "lower"])
            return x.diff(dim, label=label), value.diff(dim, label=label)
        if which == 2:
            return x.roll({dim: 2}), value.roll({dim: 2})
        if which == 3:
            periods = int(self.rng.integers(-6, 7))
            return x.shift({dim: periods}), value.shift({dim: periods})
        name, center = (
            self.pick(
                ("sum", "mean", "var")
                if self.is_smooth
                else ("sum", "mean", "max", "min", "count", "prod", "std", "construct")
            ),
            bool(self.rng.integers(2)),
        )
        length, least = (
            int(self.rng.integers(1, value.sizes[dim] + 1)),
            1 if self.is_smooth else self.pick([None, 1]),
        )
        mine, theirs = (
            x.rolling({dim: length}, least, center),
            value.rolling({dim: length}, least, center),
        )
        if name == "construct":
            new = f"n{next(self.counter)}"
            return mine.construct(new), theirs.construct(new)
        return getattr(mine, name)(), getattr(theirs, name)()

    def group(self):
        x, value = self.pick(self.nodes)
        if not value.dims:
            return None
        dim = self.pick(value.dims)
        if not value.sizes[dim]:
            return None
        if "group" in value.dims:
            return None
        kinds = [np.array(list("rpq")), np.array([2, -1, 5])]
        if not self.is_smooth:
            kinds += [np.array([2.5, np.nan, -1.0]), np.array([True, False, True])]
        labels = xr.DataArray(
            self.pick(kinds)[self.rng.integers(0, 3, value.sizes[dim])], dims=dim, name="group"
        )
        # Where elements are equal, each has the derivative of a maximum, which a difference does not see.
        name = self.pick(
            (
                "sum",
                "mean",
                "prod",
                "first",
                "last",
                "var",
                *(() if self.is_smooth else ("max", "min", "std", "count", "all", "any")),
            )
        )
        x, value = x.astype("float64"), value.astype(float)
        if labels.isnull().all():  # xarray has no groups, here are none of length 0
            return None
        if name in ("all", "any"):
            return getattr((x > 0).groupby(labels), name)(), getattr(
                (value > 0).groupby(labels), name
            )()
        if name == "count":  # of positions, along the groups alone
            if value.size == 0:  # no element to take along the groups
                return None
            ones = xr.ones_like(
                value.isel({each: 0 for each in value.dims if each != dim}, drop=True)
            )
            return x.groupby(labels).count(), ones.groupby(labels).sum().astype("int64")
        return getattr(x.groupby(labels), name)(), getattr(value.groupby(labels), name)(
            skipna=False
        )

    def interpolate(self):
        x, value = self.pick(self.nodes)
        names = [
            n
            for n in value.dims
            if n in value.indexes
            and value.indexes[n].dtype.kind == "f"
            and value.indexes[n].is_unique
            and not value.indexes[n].hasnans
            and value.sizes[n] > 1
        ]
        if not names:
            return None
        name = self.pick(names)
        low, high = value.indexes[name].min(), value.indexes[name].max()
        inside = [low, 0.75 * low + 0.25 * high, high, 0.5 * (low + high)]
        at = self.pick([inside[1], inside] if self.is_smooth else [inside[1], inside, [-1.0, 99.0]])
        if np.isnan(value.values.astype(float)).any():
            at = inside[1]  # at a coordinate next to a nan, xarray multiplies the nan by 0
        return self.both(
            lambda: x.astype("float64").interp({name: at}),
            lambda: value.astype(float).interp({name: at}),
        )

    def broadcast(self):
        x, value = self.pick(self.nodes)
        y, other = self.pick(self.fitting(value))
        if len(set(value.dims) | set(other.dims)) > 4:
            return None
        return x.broadcast_like(y), value.broadcast_like(other)

    def part(self):
        x, value = self.pick(self.nodes)
        name, count = self.pick(("head", "tail", "thin")), int(self.rng.integers(1, 4))
        dims = [n for n in value.dims if self.rng.random() < 0.6]
        return (
            (
                getattr(x, name)(dict.fromkeys(dims, count)),
                getattr(value, name)(dict.fromkeys(dims, count)),
            )
            if dims
            else None
        )

    def mask(self):
        x, value = self.pick(self.nodes)
        if not value.dims:
            return None
        dim = self.pick(value.dims)
        mask = self.rng.random(value.sizes[dim]) < 0.7
        if self.is_smooth and not mask.any():  # the mean of nothing
            return None
        return x.isel({dim: mask}), value.isel({dim: np.flatnonzero(mask)})

    def along(self):
        x, value = self.pick(self.nodes)
        if not value.dims or 0 in value.shape:
            return None
        dim, x, value = (
            self.pick(value.dims),
            px.math.tanh(x.astype("float64")),
            np.tanh(value.astype(float)),
        )
        exponentials = np.exp(value)
        return self.pick(
            [
                (x.cumprod(dim), value.cumprod(dim, skipna=False)),
                (x.clip(-0.5, 0.5), value.clip(-0.5, 0.5)),
                (x.logsumexp(dim), np.log(exponentials.sum(dim, skipna=False))),
                (x.softmax(dim), exponentials / exponentials.sum(dim, skipna=False)),
                (x.expand_dims("one").squeeze("one"), value),
                (x.drop_coords(dim), value.drop_vars(dim, errors="ignore")),
                (px.full_like(x, 0.5), xr.full_like(value, 0.5)),
            ]
        )

    def update(self):
        x, value = self.pick(self.nodes)
        if not value.dims or 0 in value.shape:
            return None
        dim, x, value = self.pick(value.dims), x.astype("float64"), value.astype(float).copy()
        where = self.pick([0, -1, slice(1, None), slice(None, None, 2), [value.sizes[dim] - 1, 0]])
        if isinstance(where, list) and where[0] == where[1]:
            return None
        addend = px.math.sin(x.isel({dim: where})), np.sin(value.isel({dim: where}))
        if self.rng.integers(2):
            value[{dim: where}] = addend[1]
            names = [str(each) for each in self.rng.permutation(addend[0].dims)]
            return x.isel({dim: where}).set(addend[0].transpose(*names)), value
        value[{dim: where}] = value.isel({dim: where}) + addend[1]
        return x.isel({dim: where}).inc(addend[0]), value

    def elementwise(self):
        """Any function of the table, by what it is of numbers: xarray says where they meet."""
        name, (x, value) = self.pick(px.math._ELEMENTWISE), self.pick(self.nodes)
        parameters = inspect.signature(getattr(pt, name)).parameters.values()
        count = ARITY.get(name) or sum(
            p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters
        )
        pairs = [(x, value)]
        while len(pairs) < count:
            fitting = [
                each
                for each in self.nodes
                if all(any(each is one for one in self.fitting(other)) for _, other in pairs)
            ]
            pairs.append(self.pick(fitting or [(px.as_xtensor(0.5), xr.DataArray(0.5))]))
        is_bool = name in BOOLEAN
        if len({n for _, v in pairs for n in v.dims}) > 4 or name in ("polygamma", "complex"):
            return None
        # In (0, 1), where all functions are defined.
        mine = [
            (px.math.sigmoid(a.astype("float64")), 1 / (1 + np.exp(-v.astype(float))))
            for a, v in pairs
        ]
        if is_bool or name in ("where", "switch"):
            mine = [
                (a > 0.5, v > 0.5) if is_bool or k == 0 else (a, v) for k, (a, v) in enumerate(mine)
            ]
        if name == "hyp2f1":  # converges slowly near 1
            mine[3] = mine[3][0] / 2, mine[3][1] / 2
        result = xr.apply_ufunc(
            lambda *arrays: getattr(pt, name)(*arrays).eval(), *(v for _, v in mine)
        )
        return getattr(px.math, name)(*(a for a, _ in mine)), result

    def matrix(self):
        x, value = self.pick(self.nodes)
        if not value.dims or 0 in value.shape:
            return None
        rows, columns = self.pick(value.dims), f"n{next(self.counter)}"
        x, value = px.math.tanh(x.astype("float64")), np.tanh(value.astype(float)).fillna(0.0)
        x = x.fillna(0.0)
        summed = [each for each in value.dims if each != rows][:1]
        eye = np.eye(value.sizes[rows])
        a = px.dot(x, x.rename({rows: columns}), summed) + px.as_xtensor(eye, dims=(rows, columns))
        b = xr.dot(value, value.rename({rows: columns}), dim=summed) + xr.DataArray(
            eye, dims=(rows, columns)
        )
        if b.ndim > 4:
            return None
        core = {"input_core_dims": [[rows, columns]]}
        of_matrix = {"output_core_dims": [[rows, columns]], **core}
        name = self.pick(
            [
                "cholesky",
                "inv",
                "det",
                "slogdet",
                "trace",
                "eigvalsh",
                "svdvals",
                "expm",
                "matrix_power",
                "norm",
                "diagonal",
                "solve",
            ]
        )
        if name == "inv":  # the rows of an inverse are columns
            return px.linalg.inv(a, dims=(rows, columns)), xr.apply_ufunc(
                np.linalg.inv, b, output_core_dims=[[columns, rows]], **core
            )
        if name == "slogdet":
            return px.linalg.slogdet(a, dims=(rows, columns))[1], xr.apply_ufunc(
                lambda m: np.linalg.slogdet(m)[1], b, **core
            )
        if name in ("eigvalsh", "svdvals", "diagonal"):
            by_numpy = {
                "eigvalsh": np.linalg.eigvalsh,
                "svdvals": lambda m: np.linalg.svd(m, compute_uv=False),
                "diagonal": lambda m: np.diagonal(m, axis1=-2, axis2=-1),
            }
            mode = f"n{next(self.counter)}"
            return getattr(px.linalg, name)(a, dims=(rows, columns), mode=mode), xr.apply_ufunc(
                by_numpy[name], b, output_core_dims=[[mode]], **core
            )
        if name == "solve":
            right, numbers = px.as_xtensor(eye[0], dims=columns), xr.DataArray(eye[0], dims=columns)
            found = xr.apply_ufunc(
                lambda m, v: np.linalg.solve(m, np.broadcast_to(v, m.shape[:-1])[..., None])[
                    ..., 0
                ],
                b,
                numbers,
                input_core_dims=[[rows, columns], [columns]],
                output_core_dims=[[rows]],
            )
            return px.linalg.solve(a, right, dims=(rows, columns)), found
        if name == "matrix_power":
            return px.linalg.matrix_power(a, 2, dims=(rows, columns)), xr.apply_ufunc(
                lambda m: m @ m, b, **of_matrix
            )
        scalars = {
            "det": np.linalg.det,
            "trace": lambda m: np.trace(m, axis1=-2, axis2=-1),
            "norm": lambda m: np.linalg.norm(m, axis=(-2, -1)),
        }
        if name in scalars:
            return getattr(px.linalg, name)(a, dims=(rows, columns)), xr.apply_ufunc(
                scalars[name], b, **core
            )
        by_scipy = {"cholesky": np.linalg.cholesky, "expm": scipy.linalg.expm}
        return getattr(px.linalg, name)(a, dims=(rows, columns)), xr.apply_ufunc(
            by_scipy[name], b, **of_matrix
        )

    def convolution(self):
        x, value = self.pick(self.nodes)
        dims = [name for name in value.dims if value.sizes[name] > 1]
        if not dims or 0 in value.shape:
            return None
        dim, kernel, mode = (
            self.pick(dims),
            self.rng.normal(size=2),
            self.pick(["full", "valid", "same"]),
        )
        x, value = px.math.tanh(x.astype("float64")), np.tanh(value.astype(float))
        of_last = np.vectorize(lambda row: np.convolve(row, kernel, mode), signature="(n)->(m)")
        found = xr.apply_ufunc(
            of_last, value, input_core_dims=[[dim]], output_core_dims=[[dim]], exclude_dims={dim}
        )
        return px.signal.convolve1d(
            x, px.as_xtensor(kernel, dims="tap"), mode, dims=(dim, "tap")
        ), found

    def loop(self):
        x, value = self.pick(self.nodes)
        if not value.dims or 0 in value.shape:
            return None
        dim = self.pick(value.dims)
        x, value = px.math.tanh(x.astype("float64")), np.tanh(value.astype(float))
        start = px.zeros_like(x.isel({dim: 0}))
        sums = px.scan(lambda now, last: now + 0.5 * last, x, start, dim=dim, return_updates=False)
        parts, last = [], 0.0
        for k in range(value.sizes[dim]):
            last = value.isel({dim: [k]}).drop_vars(dim, errors="ignore") + 0.5 * last
            parts.append(last)
        expected = xr.concat(parts, dim).transpose(dim, ...)
        return sums, expected.assign_coords({dim: value[dim]}) if dim in value.indexes else expected

    def missing(self):
        x, value = self.pick(self.nodes)
        if not value.dims:
            return None
        dim, x, value = self.pick(value.dims), x.astype("float64"), value.astype(float)
        gaps, expected = x.where(x > 0), value.where(value > 0)
        return self.pick([
            (gaps.fillna(0.25), expected.fillna(0.25)), (gaps.isnull(), expected.isnull()), (gaps.notnull(), expected.notnull()), (gaps.count(dim), expected.count(dim)),
            (gaps.fillna(x.isel({dim: 0})) if value.sizes[dim] else x, expected.fillna(value.isel({dim: 0}).drop_vars(dim, errors="ignore")) if value.sizes[dim] else value),
            (px.math.tanh(x).round(1) * 0 + 1, np.tanh(value).round(1) * 0 + 1),
        ])  # fmt: skip

    def stacked_index(self):
        x, value = self.pick(self.nodes)
        dims = [
            name
            for name in value.dims
            if name in value.indexes
            and value.indexes[name].is_unique
            and not value.indexes[name].hasnans
            and value.sizes[name]
        ]
        if len(dims) < 2:
            return None
        names, new = (
            [str(each) for each in self.rng.permutation(dims)[:2]],
            f"n{next(self.counter)}",
        )
        if 0 in value.shape:
            return None  # which xarray does not reshape
        mine, theirs = x.stack({new: names}, create_index=True), value.stack({new: names})
        if self.rng.integers(2):
            label = self.pick(value.indexes[names[0]].tolist())
            return mine.sel({names[0]: label}), theirs.sel({names[0]: label}).reset_coords(
                names[0], drop=True
            )
        some = sorted(self.rng.permutation(theirs.sizes[new])[: self.rng.integers(1, 5)].tolist())
        return mine.isel({new: some}).unstack(new), theirs.isel({new: some}).unstack(new)

    def step(self):
        kinds = [self.window, self.group, self.interpolate] * (3 if self.is_smooth else 1)
        kinds += [self.unary, self.binary, self.where, self.reduction, self.cumulative, self.transpose, self.rename, self.expand, self.stack, self.index,
                 self.select, self.dot, self.concat, self.broadcast, self.part, self.mask, self.along, self.update, self.convolution, self.loop, self.matrix]  # fmt: skip
        if not self.is_smooth:
            kinds += [self.elementwise] * 3 + [self.missing, self.stacked_index]
        with np.errstate(all="ignore"):
            pair = self.pick(kinds)()
        if pair is not None and pair[1].size <= 3000 and pair[1].ndim <= 5:
            self.nodes.append((pair[0], pair[1].reset_coords(drop=True)))


def assert_same(expression, got, expected):
    assert expression.dims == expected.dims
    assert set(expression.coords) == {name for name in expected.dims if name in expected.indexes}
    for name, labels in expression.coords.items():
        np.testing.assert_array_equal(labels, expected.coords[name].values)
    assert got.dims == expected.dims and set(got.coords) == set(expression.coords)
    np.testing.assert_allclose(
        got.values.astype(float), expected.values.astype(float), rtol=1e-9, atol=1e-11
    )


def check(seed):
    """Draws a chain, and compares each of its values with xarray's. Returns how many."""
    made = Generator(seed)
    for _ in range(25):
        made.step()
    f = bt.function([x for x, _ in made.inputs], [x for x, _ in made.nodes])
    for (expression, expected), got in zip(made.nodes, f(*(value for _, value in made.inputs))):
        assert_same(expression, got, expected)
    return len(made.nodes)


if __name__ == "__main__":
    raise SystemExit(programs.run("fuzz.labelled", __doc__, check))
