"""The kernels of one run as a picture: each rival's time over Bitale's, one row per kernel. Needs matplotlib (--peers)."""

COLOURS = {
    "NumPy": "#4c72b0",
    "JAX": "#8172b3",
    "PyTensor": "#c44e52",
    "Numba": "#937860",
    "numexpr": "#dd8452",
    "C++": "#9a9a9a",
    "C++ fast": "#333333",
}


def plot(kernels, path, title):
    """kernels: {name: {rival: seconds}}; path: an SVG file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bitale"
    from matplotlib import pyplot

    names = list(kernels)[::-1]
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.19 * len(names)))
    for rival, colour in COLOURS.items():
        points = [
            (times[rival] / times["Bitale"], row)
            for row, times in ((i, kernels[n]) for i, n in enumerate(names))
            if rival in times
        ]
        if points:
            axes.plot(*zip(*points), "o", color=colour, label=rival, markersize=4.5, alpha=0.9)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_xlabel("time over Bitale's (right of the line: Bitale is faster)")
    axes.set_title(title, fontsize=9)
    axes.grid(True, axis="both", linewidth=0.3)
    axes.legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
