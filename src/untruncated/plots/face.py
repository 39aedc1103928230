"""What stands below a figure's panels: scale, length, seeds, tuning, marks, fidelity, machine."""

from collections.abc import Iterable

import pandas as pd

from untruncated.catalogue import lookup
from untruncated.suite.figures import Figure, Panel


def face(figure: Figure, panels: Iterable[Panel], tables: dict[str, pd.DataFrame]) -> str:
    """The text for the panels shown; a drawing has only its caption."""
    parts = [f"{figure.title}. {figure.caption}".strip()]
    if tables:
        rows = pd.concat(tables.values())
        marks = [
            lookup("plot", panel.plot["name"], "plot").marks.format_map(panel.plot)
            for panel in panels
        ]
        parts += [_scale(figure, rows), *dict.fromkeys(marks), _edges(rows), *_circumstances(rows)]
    return " ".join(part for part in parts if part)


def _scale(figure: Figure, rows: pd.DataFrame) -> str:
    tuning, finals = (rows[rows["stage"] == stage] for stage in ("tuning", "final"))
    learners = rows[rows["stage"] != "baseline"]
    steps = " or ".join(f"{value:,.0f}" for value in sorted(learners["steps"].dropna().unique()))
    if learners["repeat"].notna().any():
        return f"Scale {figure.scale}: {learners['repeat'].nunique()} rounds of {steps} calls."
    sizes = ", ".join(f"{size:g}" for size in sorted(tuning["step_size"].dropna().unique()))
    text = f"Scale {figure.scale}: " + (f"{steps} steps, " if steps else "")
    if finals.empty:
        return f"{text}{_tuning_seeds(tuning)} seeds for each step size."
    seeds = finals["seed"].nunique()
    if not seeds:  # nothing in it is random
        return ""
    text += f"{seeds} seeds"
    if tuning.empty:
        return f"{text}."
    return f"{text}, step size chosen among {{{sizes}}} on {_tuning_seeds(tuning)} other seeds."


def _tuning_seeds(tuning: pd.DataFrame) -> str:
    """How many; more where fewer leave open which step size is best."""
    counts = sorted(set(tuning.groupby("run")["seed"].nunique()))
    return " or ".join(str(count) for count in counts)


def _edges(rows: pd.DataFrame) -> str:
    at_edge = rows[(rows["stage"] == "final") & rows["at_edge"].fillna(False)]
    count = at_edge["run"].nunique() and at_edge["configuration"].nunique()
    return f"Configurations whose step size is at the edge of the grid: {count}." if count else ""


def _circumstances(rows: pd.DataFrame) -> list[str]:
    timed = rows[rows["repeat"].notna()]
    machines = [name for name in timed["machine"].unique() if name]
    fidelity = [name for name in rows["fidelity"].unique() if name]
    return [
        f"Measured on {', '.join(machines)}." if machines else "",
        f"Fidelity: {' and '.join(fidelity)}." if fidelity else "",
    ]
