"""How fast the processor's ports could run the loop of a compiled function, as llvm-mca says.

llvm-mca and llc are LLVM's (Debian: llvm). Without them, or for a processor they don't model, there is no bound.
"""

import glob
import re
import shutil
import subprocess

ITERATIONS = 200


def tool(name):
    """The newest of name-19, name, ..."""
    found = [shutil.which(name), *glob.glob(f"/usr/bin/{name}-[0-9]*")]
    numbered = [path for path in found if path]
    return max(
        numbered,
        key=lambda path: int(re.search(r"-(\d+)$", path)[1]) if path[-1].isdigit() else 0,
        default=None,
    )


def loops(assembly):
    """The texts between a label and a jump back to it, without those that hold another loop."""
    lines = assembly.splitlines()
    labels = {
        match[1]: i for i, line in enumerate(lines) if (match := re.match(r"([.\w]+):", line))
    }
    spans = set()
    for i, line in enumerate(lines):
        jump = re.match(
            r"\s+j(?!mp)\w+\s+([.\w]+)", line
        )  # rarely executed code jumps back in any case
        if jump and labels.get(jump[1], i) < i:
            spans.add((labels[jump[1]], i))
    inner = [a for a in spans if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in spans)]
    found = ("\n".join(lines[first : last + 1]) for first, last in inner)
    return [loop for loop in found if "\tret" not in loop]  # a jump back to the end is not a loop


def cycles(function):
    """What an iteration of the function's heaviest loop takes at least, and the bytes that its widest registers hold."""
    llc, mca = tool("llc"), tool("llvm-mca")
    if not llc or not mca:
        return None
    llvm = function.dprint("llvm", file="str")
    made = subprocess.run(
        [llc, "-O2", "-mcpu=native", "-"], input=llvm, capture_output=True, text=True
    )
    if made.returncode:
        return None
    widths = {"zmm": 64, "ymm": 32, "xmm": 16}
    width, heaviest = 0, ""
    for loop in loops(made.stdout):
        bytes_ = next((size for name, size in widths.items() if name in loop), 0)
        if (bytes_, len(loop)) > (width, len(heaviest)):
            width, heaviest = bytes_, loop
    if not heaviest:
        return None
    text = re.sub(r"^\s*(?:\.|#).*$", "", heaviest, flags=re.M)  # directives, comments
    told = subprocess.run(
        [mca, "-mcpu=native", f"-iterations={ITERATIONS}", "-"],
        input=text,
        capture_output=True,
        text=True,
    )
    bound = re.search(r"Block RThroughput:\s+([\d.]+)", told.stdout)
    return (float(bound[1]), width) if bound else None
