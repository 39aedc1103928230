"""Writes environment.yml for conda users from the lock file: the same versions, without hashes.

Usage: python .ci/environment_yml.py requirements.lock > environment.yml
"""

import sys
from pathlib import Path

HEADER = """\
# Made from requirements.lock by `make lock`. conda env create -f environment.yml
name: untruncated
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python >=3.11,<3.14
  - pip
  - pip:
"""


def requirements(lock: str) -> list[str]:
    """The requirement lines of a lock file, with markers, without hashes and comments."""
    lines = (line.rstrip(" \\") for line in lock.splitlines())
    return [line for line in lines if line and not line.startswith((" ", "#"))]


def environment(lock: str) -> str:
    """The text of environment.yml. A marker may hold quotes, so every line is quoted."""
    lines = [*requirements(lock), "-e ."]
    return HEADER + "".join(f'      - "{line}"\n' for line in lines)


if __name__ == "__main__":
    sys.stdout.write(environment(Path(sys.argv[1]).read_text(encoding="utf-8")))
