"""What loops take at each width that vectors can have on this machine."""

import json
import tempfile

import bitale as bt
from bitale.profile import measure_vector_width

with tempfile.TemporaryDirectory() as nothing_kept, bt.config.change_flags(compiledir=nothing_kept):
    found = measure_vector_width()
print(json.dumps({"bits": found.bits, "times": found.times}))
