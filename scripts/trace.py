"""Record the runs of `scripts/recording/cases/` anew.

    python scripts/trace.py [PATTERN]

writes every trace, or those that the pattern fits, to docs/baked/cpu/traces.
"""

import argparse
import fnmatch
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts.provenance import records, sources
from scripts.provenance.environment import environment
from scripts.recording.run import recorded


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?", default="*", help="of names such as first_kernel/add")
    for name in fnmatch.filter(sources.recorded_runs(), parser.parse_args().pattern):
        head = {"schema": records.SCHEMA, "kind": "trace", "name": name, "hash": sources.digest_of("trace", name)}
        path = records.record_path("cpu", "trace", name)
        records.write(path, head | {"environment": environment(cpu=True)} | recorded(name))
        print(path.relative_to(records.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
