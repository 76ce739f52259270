"""Formulas as text, for libraries that read them: numexpr's language. What it can't say is a TypeError."""

FUNCTIONS = ("exp", "log", "log1p", "expm1", "tanh", "sin", "cos", "sqrt", "where")


class Text:
    __array_ufunc__ = None  # operators of NumPy's scalars defer to ours

    def __init__(self, text):
        self.text = text

    def sum(self):
        return Text(f"sum({self.text})")

    def max(self):
        return Text(f"max({self.text})")


def written(value):
    if isinstance(value, Text):
        return value.text
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"not a number: {value!r}")
    return repr(float(value)) if float(value) != int(value) else repr(int(value))


def _operator(symbol, swapped=False):
    def operation(a, b):
        left, right = (b, a) if swapped else (a, b)
        return Text(f"({written(left)} {symbol} {written(right)})")

    return operation


for name, symbol in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("pow", "**")):
    setattr(Text, f"__{name}__", _operator(symbol))
    setattr(Text, f"__r{name}__", _operator(symbol, swapped=True))
for name, symbol in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    setattr(Text, f"__{name}__", _operator(symbol))
Text.__neg__ = lambda a: Text(f"(-{a.text})")


class Functions:
    """Stands for the module that a formula is called with."""

    def __getattr__(self, name):
        if name not in FUNCTIONS:
            raise TypeError(f"no function {name}")
        return lambda *arguments: Text(f"{name}({', '.join(map(written, arguments))})")
