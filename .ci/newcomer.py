"""A newcomer's first session in a fresh clone: README.md from top to bottom, docs/extending.md.

Every command of the two pages is run, fenced or in a line, in its place, unless it is named here.
Code with the name of a file in its first line is written to that file. The clone takes the
environment that is here, if there is one, and makes its own otherwise. What is not committed is not
in the clone.

    python3 .ci/newcomer.py
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/extending.md")

CONDA = "conda is not here; a test holds environment.yml to the lock"
SKIPPED = {
    "make test": "the whole suite, which runs before this",
    "make figure2 SCALE=smoke": "minutes; `make all SCALE=smoke` in .ci/run has it",
    "make bench": "minutes of measuring",
    "make docs": "a minute of tables; a test renders every page",
    "snakemake docs": "a minute of tables; a test renders every page",
    "snakemake all": "draws every figure",
    "snakemake figure2 --config scale=paper": "fifty hours",
    "snakemake --workflow-profile profiles/slurm rtu_figure2 --config scale=paper": "a cluster",
    ".venv/bin/pip install -e '.[gpu]'": "a GPU, and gigabytes to download",
    "untruncated show": "a mention: it takes an environment",
    "conda env create -f environment.yml": CONDA,
    "conda activate untruncated": CONDA,
}
# What stands for another, or for many: drawings, so that nothing is computed twice.
MEANT = {
    "untruncated status": "untruncated status figure2",
    "snakemake <target> --config scale=<scale>": "snakemake rtu_figure7 --config scale=smoke",
    "make <target> SCALE=<scale>": "make rtu_figure21 SCALE=smoke",
}
# What the README's code is given.
GIVEN = "import jax\ninputs, key, x = 3, jax.random.key(0), jax.numpy.ones(3)\n"

_CODE = re.compile(r"^```(\w+)\n(.*?)^```$|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:make|snakemake|untruncated|conda|pip|python|\S+/bin/\w+) \S")
_FILE = re.compile(r"# (\S+\.(?:py|yaml))\n")


def commands(page: str) -> Iterator[str]:
    """The commands of a page in their order, without comments."""
    for match in _CODE.finditer(page):
        language, block, inline = match.groups()
        if inline and _COMMAND.match(inline):
            yield inline
        elif language == "sh":
            yield from (line.split(" #")[0].strip() for line in block.splitlines())
        elif language == "python" and not _FILE.match(block):
            yield f"python - <<'PYTHON'\n{GIVEN}{block}PYTHON"


def files(page: str) -> dict[str, str]:
    """The files that a page shows, by their names."""
    blocks = (match[2] for match in _CODE.finditer(page) if match[2])
    return {name[1]: block for block in blocks if (name := _FILE.match(block))}


def script(page: str, run: str) -> str:
    """What the shell is told: the page's commands but those skipped, each shown before."""
    meant = MEANT | {"untruncated run <hash>": f"untruncated run {run}"}
    lines = ["set -euo pipefail"]
    for command in commands(page):
        if command not in SKIPPED:
            command = meant.get(command, command)
            lines += [f"echo {subprocess.list2cmdline(['$', command.splitlines()[0]])}", command]
    return "\n".join(lines) + "\n"


def write(page: str, folder: Path) -> None:
    """Writes the files of a page, and makes packages of the folders with Python in them."""
    for name, text in files(page).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.suffix == ".py":
            (path.parent / "__init__.py").touch()


def quickest_run(results: Path) -> str:
    """The committed run that took the least time."""

    def seconds(path: Path) -> float:
        timing = json.loads(path.read_text(encoding="utf-8"))["timing"]
        return timing["run_seconds"] + timing["compile_seconds"]

    return min((results / "runs").glob("*.json"), key=seconds).stem


def clone(folder: Path) -> dict[str, str]:
    """Clones the repository, with its environment if it has one; the variables for commands."""
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    variables = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    if not (ROOT / ".venv" / "ready").exists():
        return variables
    (folder / ".venv").symlink_to(ROOT / ".venv")
    for name in ("requirements.lock", "pyproject.toml"):  # older than what was made of them
        os.utime(folder / name, (0, 0))
    return variables | {"PYTHONPATH": str(folder / "src")}


def main() -> int:
    """Follows the pages; returns the exit code of the first command that fails, or 0."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "project"
        variables = clone(folder)
        run = quickest_run(folder / "results")
        for name in PAGES:
            page, start = (folder / name).read_text(encoding="utf-8"), time.monotonic()
            write(page, folder)
            text = script(page, run)
            if name != PAGES[0]:
                text = f". .venv/bin/activate\n{text}"
            print(f"== {name}", flush=True)
            done = subprocess.run(
                ["bash", "-c", text], cwd=folder, env=variables, stdin=subprocess.DEVNULL
            )
            print(f"== {name}: {done.returncode}, {time.monotonic() - start:.0f} s", flush=True)
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
