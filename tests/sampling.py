"""Which part of the cases of a test runs: all of them, or with BITALE_TEST_SAMPLE=3/8 the fourth of eight equal parts.
The parts are fixed, so that what runs today is known to pass, and eight days run all."""

import os


def part_of(cases):
    """The cases of a sequence that run, in their order; at least one of those that there are."""
    sample = os.environ.get("BITALE_TEST_SAMPLE")
    if not sample or len(cases) <= 1:
        return cases
    part, parts = map(int, sample.split("/"))
    return cases[part % min(parts, len(cases)) :: parts]
