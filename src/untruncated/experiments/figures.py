"""What a figure is made of at one scale: panels, their configurations, and the runs of those."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from untruncated.basics.errors import SpecError
from untruncated.experiments.spec import RunSpec

SCALES = ("smoke", "small", "medium", "paper")
# What a file need not have, and the scale whose numbers it takes then.
FALLBACKS = {"medium": "small"}


@dataclass(frozen=True, eq=False)
class Point:
    """One configuration of a curve: its runs, its place in the sweep, and what it costs.

    `fields` are a run's fields, defaults included. `costs` has `flops` and `parameters` where
    there is a cell. `tuning` is None where nothing is tuned, `finals` are left out where a plot
    shows the tuning runs. `agent` is the point's place among the agents of a run that has several.
    `edge` is the reason why its step size may be at the edge of the grid, if the file gives one.
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
    edge: str = ""

    @property
    def runs(self) -> list[RunSpec]:
        """The tuning run first."""
        return [*([self.tuning] if self.tuning else []), *self.finals]


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel: its points, the runs of its baseline, and how it is drawn.

    `scale` is the one whose numbers its runs have: not the one that was asked for, if the file that
    they stand in does not have that.
    """

    name: str
    scale: str
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
    """One figure at one scale, under which its tables and pictures lie."""

    name: str
    paper: str
    title: str
    caption: str
    scale: str
    source: Path
    panels: dict[str, Panel]
    claims: list[dict[str, str]] = field(default_factory=list)

    @property
    def runs(self) -> dict[str, RunSpec]:
        """All runs by hash; a run that two panels share stands once."""
        return {run.hash: run for panel in self.panels.values() for run in panel.runs}


@dataclass(frozen=True)
class Broken:
    """A file that is no valid experiment: a half-saved one, or another tool's.

    `paper` is its folder's name, `number` its own; what panels it has is not known.
    """

    paper: str
    number: str
    error: SpecError

    @property
    def name(self) -> str:
        """What its figure would be called."""
        return f"{self.paper}_{self.number}"

    @property
    def targets(self) -> list[str]:
        """All that may stand for it."""
        panels = [f"{name}{p}" for name in (self.name, self.number) for p in ascii_lowercase]
        return ["all", self.paper, self.name, self.number, *panels]


class Experiments(dict[str, Figure]):
    """The figures of an experiments folder by name, and the files there that are none."""

    def __init__(self, figures: Mapping[str, Figure], broken: Sequence[Broken] = ()) -> None:
        super().__init__(figures)
        self.broken = tuple(broken)

    def blocked(self) -> dict[str, SpecError]:
        """The targets that cannot be made whole, each with the error of the first such file."""
        return {target: file.error for file in self.broken[::-1] for target in file.targets}

    def check(self, target: str) -> None:
        """Raises the error of a broken file that `target` stands for, if there is one."""
        if error := self.blocked().get(target):
            raise error
