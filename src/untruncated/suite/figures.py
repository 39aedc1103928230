"""What a figure is made of at one scale: panels, their configurations, and the runs of those."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from untruncated.suite.spec import RunSpec

SCALES = ("smoke", "small", "paper")


@dataclass(frozen=True, eq=False)
class Point:
    """One configuration of a curve: its runs, its place in the sweep, and what it costs.

    `fields` are a run's fields, defaults included. `costs` has `flops` and `parameters` where
    there is a cell. `tuning` is None where nothing is tuned, `finals` are left out where a plot
    shows the tuning runs. `agent` is the point's place among the agents of a run that has several.
    """

    curve: str
    label: str
    configuration: str
    fields: dict[str, Any]
    sweep: dict[str, int | float]
    costs: dict[str, int]
    tuning: RunSpec | None
    finals: list[RunSpec]
    agent: int | None = None

    @property
    def runs(self) -> list[RunSpec]:
        """The tuning run first."""
        return [*([self.tuning] if self.tuning else []), *self.finals]


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel: its points, the runs of its baseline, and how it is drawn."""

    name: str
    title: str
    plot: dict[str, Any]
    points: list[Point]
    baseline_label: str
    baselines: list[RunSpec]

    @property
    def runs(self) -> list[RunSpec]:
        """All runs that the panel shows or that those need."""
        return [*(run for point in self.points for run in point.runs), *self.baselines]


@dataclass(frozen=True, eq=False)
class Figure:
    """One figure at one scale."""

    name: str
    paper: str
    title: str
    caption: str
    scale: str
    source: Path
    panels: dict[str, Panel]
    acknowledged_edges: dict[str, str]
    claims: list[dict[str, str]] = field(default_factory=list)

    @property
    def runs(self) -> dict[str, RunSpec]:
        """All runs by hash; a run that two panels share stands once."""
        return {run.hash: run for panel in self.panels.values() for run in panel.runs}
