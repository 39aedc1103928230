"""What stands below a figure's panels: scale, length, seeds, tuning, marks, fidelity, machine."""

import textwrap
from collections.abc import Collection, Iterable

import pandas as pd

from untruncated.catalogue import lookup
from untruncated.experiments.figures import Figure, Panel
from untruncated.experiments.texts import MATHEMATICS

# How many lengths of runs are named before the last one.
MOST_LENGTHS = 4
# Where lines break, out of sight of what breaks them.
_KEPT = {ord(" "): "\ue000", ord("-"): "\ue001"}
_GIVEN_BACK = {0xE000: " ", 0xE001: "-"}


def face(figure: Figure, panels: Collection[Panel], tables: dict[str, pd.DataFrame]) -> str:
    """The text for the panels shown; a drawing has only its caption."""
    parts = [f"{figure.title}. {figure.caption}".strip()]
    if tables:
        rows = pd.concat(tables.values())
        marks = [
            lookup("plot", panel.plot["name"], "plot").marks_of(panel.plot) for panel in panels
        ]
        parts += [
            _scale(panels, rows),
            *dict.fromkeys(marks),
            _lost(rows, marks),
            _edges(rows),
        ]
        parts += _circumstances(rows)
    return " ".join(part for part in parts if part)


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` characters; mathematics stays in one line."""
    kept = MATHEMATICS.sub(lambda found: found[0].translate(_KEPT), text)
    lines = textwrap.wrap(kept, width, break_long_words=False)
    return [line.translate(_GIVEN_BACK) for line in lines]


def _scale(panels: Collection[Panel], rows: pd.DataFrame) -> str:
    scale = " and ".join(dict.fromkeys(panel.scale for panel in panels if panel.points))
    tuning, finals = (rows[rows["stage"] == stage] for stage in ("tuning", "final"))
    length = _length(panels)
    if rows["repeat"].notna().any():
        return f"Scale {scale}: {rows['repeat'].nunique()} rounds of {length}."
    sizes = ", ".join(f"{size:g}" for size in sorted(tuning["step_size"].dropna().unique()))
    text = f"Scale {scale}: " + (f"{length}, " if length else "")
    if finals.empty:
        return f"{text}{_tuning_seeds(tuning)} seeds for each step size."
    seeds = finals["seed"].nunique()
    if not seeds:  # nothing in it is random
        return ""
    text += f"{seeds} seeds"
    if tuning.empty:
        return f"{text}."
    return f"{text}, step size chosen among {{{sizes}}} on {_tuning_seeds(tuning)} other seeds."


def _length(panels: Iterable[Panel]) -> str:
    """How long runs are, each number with the word for what their program counts."""
    lengths: dict[str, set[int]] = {}
    for run in (run for panel in panels for point in panel.points for run in point.runs):
        program = lookup("program", run.fields["program"], "program")
        if program.random and "steps" in run.fields:
            lengths.setdefault(program.counts, set()).add(run.fields["steps"])
    texts = []
    for word, numbers in lengths.items():
        *others, last = (f"{number:,}" for number in sorted(numbers))
        if len(others) > MOST_LENGTHS:
            last = f"{others[0]} to {last}"
        elif others:
            last = f"{', '.join(others)} or {last}"
        texts.append(f"{last} {word}")
    return " and ".join(texts)


def _tuning_seeds(tuning: pd.DataFrame) -> str:
    """How many; more where fewer leave open which step size is best."""
    counts = sorted(set(tuning.groupby("run", dropna=False)["seed"].nunique()))
    return " or ".join(str(count) for count in counts)


def _lost(rows: pd.DataFrame, marks: Iterable[str]) -> str:
    """What a cross is, where there is one and no plot says so whether there is one or not."""
    lost = rows.loc[rows["stage"] == "final", "diverged"].any()
    return "×: a seed diverged." if lost and not any("×" in text for text in marks) else ""


def _edges(rows: pd.DataFrame) -> str:
    at_edge = rows[(rows["stage"] == "final") & rows["at_edge"].fillna(False)]
    count = at_edge["run"].nunique() and at_edge["configuration"].nunique()
    return f"Configurations whose step size is at the edge of the grid: {count}." if count else ""


def _circumstances(rows: pd.DataFrame) -> list[str]:
    timed = rows[rows["repeat"].notna()]
    machines = [name.replace("$", r"\$") for name in timed["machine"].unique() if name]
    fidelity = [name for name in rows["fidelity"].unique() if name]
    return [
        f"Measured on {', '.join(machines)}." if machines else "",
        f"Fidelity: {' and '.join(fidelity)}." if fidelity else "",
    ]
