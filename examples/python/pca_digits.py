"""Principal components of handwritten digits by the singular value decomposition: how much of the variance a few of
them explain, and the images reconstructed from them. One function serves any number of components. The values equal
NumPy's, and the error is the sum of the squares of the omitted singular values (Eckart and Young 1936)."""

import sys
from pathlib import Path

import numpy as np

import bitale as bt
import bitale.tensor as pt

DATA = Path(__file__).resolve().parents[1] / "data" / "digits.csv"
SHADES = " .:-=+*#%@"


def main():
    images = np.loadtxt(DATA, delimiter=",", skiprows=1)[:, :64] / 16

    x, k = pt.dmatrix("x"), pt.lscalar("k")
    center = x.mean(axis=0)
    u, s, components = pt.linalg.svd(x - center, full_matrices=False)
    scores = u[:, :k] * s[:k]
    remade = center + scores @ components[:k]
    f = bt.function([x, k], [remade, (s[:k] ** 2).sum() / (s**2).sum(), s])

    good = True
    for count in (1, 2, 5, 10, 20, 40):
        back, kept, singular = f(images, count)
        lost = ((images - back) ** 2).sum()
        good &= bool(np.isclose(lost, (singular[count:] ** 2).sum(), rtol=1e-9))
        print(
            f"{count:3} components keep {kept:6.1%} of the variance; the pixels are off by {np.sqrt(lost / images.size):.4f}"
        )
    good &= np.allclose(
        singular,
        np.linalg.svd(images - images.mean(axis=0), compute_uv=False),
        rtol=1e-9,
        atol=1e-9,
    )

    back = f(images, 10)[0]
    print("\nAn image, and the same made of ten components:")
    for row, other in zip(images[0].reshape(8, 8), back[0].reshape(8, 8)):
        text = [
            "".join(SHADES[int(np.clip(pixel, 0, 0.999) * 10)] * 2 for pixel in line)
            for line in (row, other)
        ]
        print("  " + "    ".join(text))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
