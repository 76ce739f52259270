"""Your own type: variables whose values are Python objects, in a compiled function together with tensors."""

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.compile.sharedvalue import shared_of
from bitale.graph import Op, Type


class TextType(Type):
    """Values are strings."""

    __props__ = ()

    def filter(self, data, strict=False, allow_downcast=None):
        if not isinstance(data, str):
            raise TypeError(f"expected a string, got {data!r}")
        return data


class LetterCounts(Op):
    """How often each letter from a to z occurs."""

    __props__ = ()
    itypes, otypes = [TextType()], [pt.lvector]

    def perform(self, node, inputs, output_storage):
        codes = np.frombuffer(inputs[0].lower().encode(), "uint8")
        codes = codes[(codes >= ord("a")) & (codes <= ord("z"))] - ord("a")
        output_storage[0][0] = np.bincount(codes, minlength=26).astype("int64")


class Reverse(Op):
    __props__ = ()
    itypes, otypes = [TextType()], [TextType()]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0][::-1]


text = TextType()("text")
counts = LetterCounts()(text)
shares = counts / counts.sum()
entropy = -pt.sum(pt.switch(pt.eq(counts, 0), 0.0, shares * pt.log2(pt.maximum(shares, 1e-300))))

f = bt.function([text], [entropy, Reverse()(text)])
bits, backwards = f("hello world")
print(f"{bits:.3f} bits per letter, {backwards!r}")
assert backwards == "dlrow olleh" and abs(bits - 2.646) < 1e-3

# A shared variable of the type; functions update it.
last = shared_of(TextType(), "none yet", "last")
remember = bt.function([text], last, updates={last: text})
assert remember("first") == "none yet" and last.get_value() == "first"

try:
    f(3)
except TypeError as error:
    print(error)
