"""From what the user names to a finished result file: one run."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from untruncated.catalogue import CatalogueError, lookup
from untruncated.suite.errors import SpecError
from untruncated.suite.expansion import load_figures
from untruncated.suite.figures import SCALES
from untruncated.suite.jax_settings import prepare_jax
from untruncated.suite.results import Result, read_result, recorded_spec
from untruncated.suite.spec import RunSpec, resolve_run
from untruncated.suite.tuning import choose_step_size

_HASH = re.compile(r"[0-9a-f]{16}")


def find_spec(text: str, experiments: Path) -> tuple[RunSpec, str]:
    """The run that `text` names: JSON, a file with a spec or a result, or a hash.

    Returns:
        The run, and the largest scale at which an experiment file asks for it; "small" where it is
        not named by its hash.

    Raises:
        SpecError: It is none of them, or the spec is not valid.
    """
    if text.lstrip().startswith("{"):
        return _parse(text, "the spec given"), "small"
    if _HASH.fullmatch(text) and not Path(text).exists():
        return _by_hash(text, experiments)
    try:
        content = Path(text).read_text(encoding="utf-8", errors="replace") if text else None
    except FileNotFoundError:
        content = None
    except OSError as error:
        raise SpecError(f"{text[:80]}: cannot be read: {error.strerror}") from error
    if content is not None:
        return _parse(content, text), "small"
    raise SpecError(
        f"{text!r} is no run: give a spec as JSON, a file that holds a spec or a result, "
        "or the 16 hex digits of a run that an experiment file asks for"
    )


def _parse(text: str, where: str) -> RunSpec:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:  # nested, or of digits, without end
        raise SpecError(f"{where}: not JSON ({error})") from error
    if isinstance(raw, Mapping) and "schema" in raw:
        raw = recorded_spec(raw, where)
    try:
        return resolve_run(raw)
    except CatalogueError as error:
        raise SpecError(f"{where}: {error}") from error
    except RecursionError as error:
        raise SpecError(f"{where}: nested too deeply") from error


def _by_hash(name: str, experiments: Path) -> tuple[RunSpec, str]:
    for scale in reversed(SCALES):
        for figure in load_figures(experiments, scale).values():
            if name in figure.runs:
                return figure.runs[name], scale
    raise SpecError(f"no experiment file under {experiments} asks for a run {name}, at any scale")


def execute(
    spec: RunSpec, output: Path, *, checkpoint_seconds: float = 30.0, progress: bool = True
) -> Result:
    """Computes a run and writes its result.

    A final run reads its tuning run's result from the folder of `output`.

    Raises:
        SuiteError: The tuning result is missing or damaged, the program cannot be built, the
            result cannot be written, or the run was stopped by a signal.
    """
    step_sizes, choices = _step_sizes(spec, output.parent)
    prepare_jax()
    import jax

    from untruncated.suite.runner import run

    with jax.enable_x64(spec.fields["precision"] == "float64"):
        build = lookup("program", spec.fields["program"], "program").load()
        try:
            program = build(spec.fields, step_sizes, choices)
        except ValueError as error:  # parts that do not fit each other, or data that is not here
            raise SpecError(f"run {spec.hash}: {error}") from error
        return run(
            program,
            spec.canonical,
            output,
            checkpoint_seconds=checkpoint_seconds,
            progress=progress,
        )


def _step_sizes(spec: RunSpec, folder: Path) -> tuple[list[float], dict[str, Any]]:
    if spec.tuning is None:
        return spec.fields.get("step_sizes", []), {}
    path = folder / f"{spec.tuning}.json"
    tuning = read_result(path)
    if "step_sizes" not in tuning.spec:
        raise SpecError(f"{path}: named by a final run as its tuning run, but it tuned nothing")
    objective = lookup("program", spec.fields["program"], "program").objective
    choices = choose_step_size(tuning, objective)
    return [choices["step_size"]], choices
