"""python -m mindtorch_v2.profiler: the command mtprof, in this interpreter."""

import sys

from mindtorch_v2.cli.program import main

if __name__ == "__main__":
    sys.exit(main())
