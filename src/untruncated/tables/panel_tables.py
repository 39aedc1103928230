"""Tidy tables: one CSV per panel, one row per (configuration, stage, step size, seed, metric).

`docs/results.md` says what each column holds. `read_table` reads one, with the types below.
"""

import csv
import hashlib
import math
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from untruncated.basics.command_lines import compute_panel, compute_run
from untruncated.basics.errors import ResultError, SpecError
from untruncated.basics.files import atomic_path, write_atomically
from untruncated.catalogue import lookup
from untruncated.catalogue.entry import not_among
from untruncated.experiments.expansion import load_figures
from untruncated.experiments.figures import Experiments, Figure, Panel
from untruncated.experiments.spec import RunSpec
from untruncated.results.result_files import Metric, Result, read_result

# Every column, in the order of the file, and the kind of its values; see `read_table`.
KINDS = {
    "figure": "text",
    "panel": "text",
    "scale": "text",  # whose numbers the runs have
    "fidelity": "text",
    "curve": "text",
    "label": "text",
    "configuration": "text",
    "method": "text",  # the cell or the estimator
    "cell": "text",
    "width": "integer",
    "credit": "text",
    "truncation": "integer",
    "x": "number",  # the panel's swept quantity
    "flops": "integer",
    "parameters": "integer",
    "stage": "text",
    "run": "text",  # the result file's hash
    "steps": "integer",
    "step_size": "number",
    "at_edge": "truth",
    "machine": "text",
    "seed": "integer",
    "curve_step": "integer",
    "repeat": "integer",
    "theta_0": "number",
    "theta_1": "number",
    "state_0": "number",
    "state_1": "number",
    "trajectory_step": "integer",
    "inner_step": "integer",
    "parameter": "integer",
    "coordinate": "integer",
    "metric": "text",
    "value": "number",  # missing if the member diverged
    "diverged": "truth",
}
COLUMNS = list(KINDS)
# How a kind is read from its text, and pandas' type for it.
_READ = {
    "integer": (int, "Int64"),
    "number": (float, "float64"),
    "truth": ({"True": True, "False": False}.__getitem__, "boolean"),
}
_MEMBER_AXES = set(
    "step_size seed repeat agent theta_0 theta_1 state_0 state_1 inner_step coordinate".split()
)


def split_panel(name: str, figures: Experiments) -> tuple[Figure, Panel]:
    """The figure and the panel that a name such as `rtu_figure2a` stands for.

    Raises:
        SpecError: There is no such panel, or its file is broken.
    """
    figures.check(name)
    figure = figures.get(name[:-1])
    if figure is None or name[-1] not in figure.panels:
        known = [f"{f.name}{panel}" for f in figures.values() for panel in f.panels]
        raise SpecError(not_among(name, sorted(known), "panel"))
    return figure, figure.panels[name[-1]]


def write_table(name: str, scale: str, experiments: Path, runs: Path, output: Path) -> None:
    """Collects a panel's runs, from the folder `runs`, into a CSV.

    Raises:
        SuiteError: A run is missing or damaged, a message names all that are missing; or the panel
            is a drawing.
    """
    figure, panel = split_panel(name, load_figures(experiments, scale))
    if not panel.runs:
        raise SpecError(f"{name} is a drawing: it has no runs, and so no table")
    write_panel(figure, panel, runs, output)


def write_panel(figure: Figure, panel: Panel, runs: Path, output: Path) -> None:
    """`write_table` for a panel that has been read from its experiment file.

    Raises:
        SuiteError: As `write_table`.
    """
    name = f"{figure.name}{panel.name}"
    missing = missing_runs(panel, runs)
    if missing:
        listed = "\n  ".join(f"{run}.json  {text}" for run, text in missing.items())
        raise ResultError(
            f"{name}: {len(missing)} of its {len(panel.runs)} runs are missing in {runs}:\n  "
            f"{listed}\nCompute them with: {_compute(figure, panel, runs, missing)}"
        )
    common = {"figure": figure.name, "panel": panel.name, "scale": panel.scale}
    with atomic_path(output) as path:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows({**common, **row} for row in panel_rows(panel, runs))
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    write_atomically(_checksum_file(output), f"{checksum}  {output.name}\n")


def _checksum_file(table: Path) -> Path:
    """Beside a table, in the form of sha256sum."""
    return table.with_name(f"{table.name}.sha256")


def _check_whole(path: Path) -> None:
    """Raises a ValueError if a table is not as it was written; one without a checksum may be."""
    with suppress(FileNotFoundError):
        written = _checksum_file(path).read_text(encoding="utf-8").split()[:1]
        if written != [hashlib.sha256(path.read_bytes()).hexdigest()]:
            raise ValueError("it is not as it was written: truncated or edited")


def read_table(path: str | Path) -> pd.DataFrame:
    """A panel's table, each column in the type of its kind, whatever the values look like.

    Texts (`str`) stay as they are written: a curve named None or 1.0, a hash of digits; a missing
    one is empty. Integers are `Int64` and truths `boolean`, where a missing value is `pandas.NA`;
    numbers are `float64`, where it is NaN.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no table of this suite: a column is missing, or holds something that is
            not of its kind; or it was truncated or edited after it was written.
    """
    _check_whole(Path(path))
    table = pd.read_csv(path, dtype=str, na_filter=False, encoding="utf-8")
    for name in COLUMNS:
        if name not in table:
            raise ValueError(f"the column {name!r} is missing")
    return table.assign(**{name: _typed(table[name], kind) for name, kind in KINDS.items()})


def _typed(texts: pd.Series, kind: str) -> pd.Series:
    """A column of texts in the type of its kind; an empty text is a missing value."""
    if kind == "text":
        return texts
    read, dtype = _READ[kind]
    values: dict[str, Any] = {"": None}
    for text in texts.unique():
        try:
            values[text] = read(text) if text else None
        except (ValueError, KeyError):
            raise ValueError(f"the column {texts.name!r} holds {text!r}, no {kind}") from None
    return pd.Series([values[text] for text in texts], texts.index, dtype)


def _compute(figure: Figure, panel: Panel, runs: Path, missing: Mapping[str, str]) -> str:
    """The commands that compute a panel's missing runs: one call of Snakemake where it can."""
    experiments = figure.source.parents[1]
    with suppress(ValueError):
        if runs.resolve().name == "runs":
            name, results = f"{figure.name}{panel.name}", runs.resolve().parent
            return compute_panel(name, figure.scale, results, experiments)
    commands = [compute_run(runs / f"{run}.json", experiments) for run in missing]
    return "\n  ".join(["", *commands])


def missing_runs(panel: Panel, runs: Path) -> dict[str, str]:
    """The runs without a file, tuning first, with a text: the configurations they belong to."""
    described = {}
    for point in panel.points:
        if point.tuning:
            described[point.tuning.hash] = f"{point.configuration}, tuning"
        described |= {run.hash: f"{point.configuration}, {_seeds(run)}" for run in point.finals}
    described |= {run.hash: f"{panel.baseline_label}, {_seeds(run)}" for run in panel.baselines}
    return {name: text for name, text in described.items() if not (runs / f"{name}.json").exists()}


def _seeds(run: RunSpec) -> str:
    seeds = run.fields["seeds"]
    return f"seeds {seeds[0]}–{seeds[-1]}"


def panel_rows(panel: Panel, runs: Path) -> Iterator[dict[str, Any]]:
    """The rows of a panel's table, without the columns that are the same for all."""
    x = panel.plot.get("x")
    of_plot = lookup("plot", panel.plot["name"], "plot").curve_metric
    curve_metrics = {of_plot, panel.plot.get("metric"), panel.plot.get("success_metric")}
    for point in panel.points:
        cell, credit = point.fields.get("cell", {}), point.fields.get("credit", {})
        fixed = {
            "fidelity": point.fields.get("fidelity"),
            "curve": point.curve,
            "label": point.label,
            "configuration": point.configuration,
            "method": point.fields.get("estimator", cell).get("name"),
            "cell": cell.get("name"),
            "width": cell.get("width"),
            "credit": credit.get("name"),
            "truncation": credit.get("truncation"),
            "x": (point.costs | point.sweep).get(x),
            **point.costs,
        }
        for run in point.runs:
            stage = "tuning" if run is point.tuning else "final"
            for member in _result_rows(run, runs, curve_metrics):
                if member.pop("agent", point.agent) == point.agent:
                    yield {**fixed, "stage": stage, **member}
    for run in panel.baselines:
        fixed = {"curve": "baseline", "label": panel.baseline_label, "stage": "baseline"}
        for member in _result_rows(run, runs, curve_metrics):
            yield {**fixed, **member}


def _result_rows(
    run: RunSpec, runs: Path, curve_metrics: Container[str]
) -> Iterator[dict[str, Any]]:
    """A row for each member of a run and each metric of the whole run, or of those curves."""
    result = read_result(runs / f"{run.hash}.json", run.canonical)
    fixed = {
        "run": run.hash,
        "steps": run.fields.get("steps"),
        "at_edge": result.choices.get("at_edge"),
        "machine": result.provenance.get("machine"),
    }
    diverged = {(record.get("step_size"), record.get("seed")) for record in result.diverged}
    for name, metric in result.metrics.items():
        if set(metric.axes) <= _MEMBER_AXES or name in curve_metrics:
            for member, value in _members(result, metric):
                lost = (member.get("step_size"), member.get("seed")) in diverged
                yield {**fixed, **member, "metric": name, "value": value, "diverged": lost}


def _members(result: Result, metric: Metric) -> Iterator[tuple[dict[str, Any], float | None]]:
    for index in np.ndindex(metric.values.shape):
        member = {axis: result.axes[axis][i] for axis, i in zip(metric.axes, index, strict=True)}
        value = float(metric.values[index])
        yield member, None if math.isnan(value) else value
