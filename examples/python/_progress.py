"""A progress bar below lines that stay. If the output is not a terminal, only the lines are written."""

import sys


class Progress:
    WIDTH = 40

    def __init__(self, total):
        self.total, self.done = total, 0
        self.shown = sys.stdout.isatty()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._erase()

    def step(self, line):
        """One more of `total` is done; `line` says what it gave."""
        self.done += 1
        self._erase()
        print(line)
        if self.shown:
            full = self.WIDTH * self.done // self.total
            print(
                f"  {'█' * full}{'░' * (self.WIDTH - full)} {self.done}/{self.total}",
                end="",
                flush=True,
            )

    def _erase(self):
        if self.shown:
            print("\r\033[K", end="")
