"""Passes on those of the file names on standard input that a compile_commands.json (first argument) can compile."""

import json
import sys
from pathlib import Path

compiled = {Path(entry["file"]).resolve() for entry in json.loads(Path(sys.argv[1]).read_text())}
sys.stdout.writelines(line for line in sys.stdin if Path(line.strip()).resolve() in compiled)
