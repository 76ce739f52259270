"""The kernels of one run as a table of a Markdown page: what stands between the two marks is replaced."""

from page import replace_section

BEGIN, END = "<!-- kernels -->", "<!-- /kernels -->"
RIVALS = ("NumPy", "JAX", "PyTensor", "Numba", "numexpr", "C++", "C++ fast")


def microseconds(seconds):
    """Three digits, or all those before the point."""
    value = seconds * 1e6
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.{2 if value < 9.995 else 1}f}"


def table(found):
    """found: what kernels.py prints."""
    lines = [
        f"| kernel | Bitale | {' | '.join(RIVALS)} | of the best | GB/s | of the ports |",
        "|---" * (len(RIVALS) + 5) + "|",
    ]
    for name, times in found["kernels"].items():
        mine = times["Bitale"]
        ratio = (
            f"{mine / min(seconds for rival, seconds in times.items() if rival != 'Bitale'):.2f}"
        )
        cells = ["`" + name.replace("e+0", "e") + "`", microseconds(mine)]
        cells += [microseconds(times[rival]) if rival in times else "–" for rival in RIVALS]
        cells.append(f"**{ratio}**" if float(ratio) <= 1 else ratio)
        moved, share = found["moved"][name], found["bound"][name]
        cells += [f"{moved / mine / 1e9:.0f}" if moved else "", f"{share:.0%}" if share else ""]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write(found, path):
    """path: a page with both marks; ValueError without them."""
    replace_section(path, BEGIN, END, f"{table(found)}\n")
