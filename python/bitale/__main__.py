"""``python -m bitale``: the command line."""

import sys

from bitale.cli import main

sys.exit(main())
