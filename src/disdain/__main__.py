"""`python -m disdain`."""

import sys

from disdain.cli import main

if __name__ == "__main__":
    sys.exit(main())
