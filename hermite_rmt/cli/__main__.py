"""`python -m hermite_rmt.cli`, the same as `hermite-rmt`."""

import sys

from hermite_rmt.cli import main

if __name__ == "__main__":
    sys.exit(main())
