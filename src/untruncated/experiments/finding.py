"""From what the user names to the spec of one run."""

import errno
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from untruncated.basics.command_lines import default_results
from untruncated.basics.errors import NewerResultError, SpecError, SuiteError
from untruncated.catalogue import CatalogueError
from untruncated.catalogue.field import one_line, shown
from untruncated.experiments.expansion import Folder
from untruncated.experiments.figures import SCALES
from untruncated.experiments.spec import RunSpec, resolve_run
from untruncated.results.result_files import recorded_spec

DEFAULT_RUNS = Path("results/runs")
_HASH = re.compile(r"[0-9a-f]{16}")


def find_run(text: str, runs: "Runs") -> tuple[RunSpec, Path]:
    """The run that `text` names: JSON, a file with a spec or a result, or a hash.

    A result file that is named by a hash stands for that run, also if it is damaged or not there.

    Returns:
        The run, and the folder where its result goes: that of the result file named, or the default
        one of the largest scale at which an experiment file asks for it.

    Raises:
        SpecError: It is none of them, or the spec is not valid.
        ResultError: It is a result of another schema, or one without its spec whose run no
            experiment file asks for.
    """
    if text.lstrip().startswith("{"):
        return _run_in(_parse(text, "the spec given"), "the spec given"), DEFAULT_RUNS
    if _HASH.fullmatch(text) and not Path(text).exists():
        spec, scale = runs[text]
        return spec, Path(default_results(scale)) / "runs"
    path = Path(text)
    if path.suffix == ".json" and _HASH.fullmatch(path.stem):
        return _of_result(path, runs), path.parent
    content = _read(path) if text else None
    if content is None:
        raise SpecError(
            f"{shown(text)} is no run: give a spec as JSON, a file that holds a spec or a result, "
            "or the 16 hex digits of a run that an experiment file asks for"
        )
    raw = _parse(content, text)
    return _run_in(raw, text), path.parent if _is_result(raw) else DEFAULT_RUNS


class Runs:
    """The runs that the files under an experiments folder ask for, read when first looked for."""

    def __init__(self, experiments: Path) -> None:
        self.experiments = experiments
        self._folder = Folder(experiments)

    @property
    def broken(self) -> list[SpecError]:
        """What is wrong with the files that cannot be read: which runs they ask for is unknown."""
        errors = [file.error for scale in SCALES for file in self._folder.at(scale).broken]
        return list({str(error): error for error in errors}.values())

    def __getitem__(self, name: str) -> tuple[RunSpec, str]:
        """The run of this hash, and the largest scale that has it; a SpecError if there is none."""
        for scale in SCALES[::-1]:
            if name in self._folder.runs(scale):
                return self._folder.runs(scale)[name], scale
        where = f"under {self.experiments} asks for a run {name}, at any scale"
        maybe = "".join(f"; one that cannot be read may: {error}" for error in self.broken)
        raise SpecError(f"no experiment file {where}{maybe}")


def _of_result(path: Path, runs: Runs) -> RunSpec:
    """The run of a result file, by its own spec, or by its name where that spec is not in order."""
    content = _read(path)
    if content is None:
        return runs[path.stem][0]
    try:
        return _run_in(_parse(content, str(path)), str(path), path.stem)
    except NewerResultError:
        raise
    except SuiteError:
        with suppress(SpecError):
            return runs[path.stem][0]
        raise


def _read(path: Path) -> str | None:
    """A file's text, None if there is none of this name, or cannot be."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ValueError):  # ValueError: a name with a null character
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return None
        raise SpecError(f"{one_line(str(path))}: cannot be read: {error.strerror}") from error


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # nested, or of digits, without end
        raise SpecError(f"{where}: not JSON ({error})") from error


def _is_result(raw: Any) -> bool:
    return isinstance(raw, Mapping) and "schema" in raw


def _run_in(raw: Any, where: str, stem: str = "") -> RunSpec:
    """The run of a spec, or of a result whose file has the name `stem`."""
    if _is_result(raw):
        raw = recorded_spec(raw, where, stem)
    try:
        return resolve_run(raw)
    except CatalogueError as error:
        raise SpecError(f"{where}: {error}") from error
    except RecursionError as error:
        raise SpecError(f"{where}: nested too deeply") from error
