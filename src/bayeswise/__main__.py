"""`python -m bayeswise`, where the command itself is not on the path."""

import sys

from bayeswise.cli import main

if __name__ == "__main__":
    sys.exit(main())
