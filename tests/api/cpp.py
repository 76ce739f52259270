"""The names of bitale.tensor that have no function of that name in the C++ headers, with the reason, and the names that the
headers declare: tests/python/test_cpp_names.py holds both together."""

from __future__ import annotations

import inspect
import pathlib
import re

_include = pathlib.Path(__file__).parents[2] / "include" / "bitale"

# Keywords, and names that C++ has for something else.
renamed = {"std": "std_", "switch": "switch_", "xor": "xor_"}

# By pattern: why there is no function of that name.
reasons = {
    r"TensorLike": "an annotation: Operand in C++",
    r"values_eq_approx_always_true": "a type in C++ says itself how its values compare",
    r"as_tensor": "as_tensor_variable; as_tensor of a type is the TensorType in it",
    r"make_slice": "a Slice is made of its bounds",
    r"linalg\.ordqz": "qz with `sort`",
    r"optimize\.\w+|signal\.convolve2d": "Python's part: solvers of SciPy, and a choice between methods",
    r"random\.(as|default|shared)_rng|random\.random_generator_type": "shared_of(random_type(), random_state(seed)), and stream_state(seed) of a stream",
    r"random\.(distribution|from_quantile)": "any function that gives a random::Draw is a distribution",
    r"random\.nbinom": "negative_binomial",
}  # fmt: skip


def functions() -> list[str]:
    """Names of functions and ready-made types as Python has them: "exp", and "linalg.det" of a module."""
    import bitale.tensor as pt

    modules = {"": pt, **{f"{name}.": getattr(pt, name) for name in ("special", "linalg", "fft", "signal", "optimize", "random")}}
    return [
        prefix + name
        for prefix, module in modules.items()
        for name in sorted(getattr(module, "__all__", dir(module)))
        if name[0] != "_" and callable(getattr(module, name)) and not inspect.isclass(getattr(module, name))
    ]


def missing() -> list[str]:
    """Those that no header declares under their name."""
    known = declared()
    bare = {name: name.split(".")[-1] for name in functions()}
    return [name for name, last in bare.items() if last not in known and renamed.get(last) not in known]


def _without_comments(text: str) -> str:
    return re.sub(r"//.*", "", text)


def declared() -> set[str]:
    """Functions of namespace bitale that headers on ops, gradients and shared variables declare."""
    names: set[str] = set()
    others = ["autodiff/gradient.hpp", "compile/shared.hpp", "graph/variable.hpp"]
    for path in [*(_include / "ops").glob("*.hpp"), *(_include / each for each in others)]:
        text = _without_comments(path.read_text())
        if path.name == "constructors.hpp":
            names |= _constructors(text)
            continue
        for macro in re.findall(r"#define BITALE_\w+\(X\)((?:.*\\\n)*.*)", text):
            names |= set(re.findall(r"\bX\((\w+)", macro))
        names |= set(re.findall(r"^std::function<.*> (\w+)\(", text, re.M))
        names |= set(re.findall(r"^(?:inline |constexpr )*[A-Za-z_][\w:<>, ]*?[ &*>](\w+)\(", text, re.M))
    return names


def _constructors(text: str) -> set[str]:
    """What the macros of constructors.hpp make: a prefix and a kind each, and the plurals of some."""
    lists = {
        name: re.findall(r"\bX\((\w+), (\w+), __VA_ARGS__\)", body)
        for name, body in re.findall(r"#define (BITALE_\w*RANKS)\(X, \.\.\.\)((?:.*\\\n)*.*)", text)
    }
    names = set(re.findall(r"^Variable (\w+)\(", text, re.M))
    for kinds, prefix in re.findall(r"^(BITALE_\w*RANKS)\(X, (\w+), ", text, re.M):
        names |= {prefix + kind for kind, _ in lists[kinds]}
    for kinds, prefix in re.findall(r"^(BITALE_\w*RANKS)\(X, ?(\w*)\)", text, re.M):
        names |= {prefix + plural for _, plural in lists[kinds]}
    return names


def reason(name: str) -> str | None:
    for pattern, why in reasons.items():
        if re.fullmatch(pattern, name):
            return why
    return None
