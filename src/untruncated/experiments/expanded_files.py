"""An experiment file at a scale: its panels, their configurations, and the runs of those."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from untruncated.basics.errors import SpecError
from untruncated.catalogue import CatalogueError
from untruncated.catalogue.entry import not_among
from untruncated.experiments.baselines import baseline_runs
from untruncated.experiments.choosing import chosen
from untruncated.experiments.configurations import Configuration, Setting, curve_configurations
from untruncated.experiments.experiment_files import ExperimentFile, Loan, PanelText
from untruncated.experiments.figures import Figure, Panel, Point
from untruncated.experiments.stages import Stages
from untruncated.experiments.texts import drawable, figure_text, filled, run_values


class Files(Protocol):
    """The files that one may borrow from."""

    paths: list[Path]

    def expansion(self, path: Path, scale: str) -> "ExpandedFile":
        """What is made of a file at a scale."""


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Errors in the body are told as those of a file."""
    try:
        yield
    except CatalogueError as error:
        raise SpecError(f"{path}: {error}") from error


class ExpandedFile:
    """One file at a scale. What others borrow of it is made once for all."""

    def __init__(self, file: ExperimentFile, scale: str, folder: Files) -> None:
        self.file, self.folder, self.asked = file, folder, scale
        self.scale = file.scales[scale]
        self._lent: dict[str, list[Point]] = {}

    def figure(self) -> Figure:
        """The figure, with all panels of this scale."""
        panels = {name: self._panel(self.file.panels[name]) for name in self._shown}
        points = [point for panel in panels.values() for point in panel.points]
        return Figure(
            name=self.file.name,
            paper=self.file.paper,
            title=figure_text(self.file.title, points, "title"),
            caption=figure_text(self.file.caption, points, "caption"),
            scale=self.asked,
            source=self.file.path,
            panels=panels,
            claims=self.file.claims,
        )

    @cached_property
    def _shown(self) -> list[str]:
        """The panels of this scale: all, unless it names some."""
        names = list(self.file.panels)
        for name in self.scale.panels or []:
            if name not in names:
                raise CatalogueError(f"{self.scale.where}.panels", not_among(name, names, "panel"))
        return [name for name in names if self.scale.panels is None or name in self.scale.panels]

    def _panel(self, panel: PanelText) -> Panel:
        points, scale = self._points(panel)
        if "x" in panel.plot:
            _check_x(panel, points)
        label, baselines = baseline_runs(panel, self._setting(panel), self._stages)
        where = panel.where
        drawn = {key for key, field in panel.entry.fields.items() if field.drawn}
        return Panel(
            name=panel.name,
            scale=scale,
            title=figure_text(panel.title, points, f"{where}.title"),
            plot={
                key: figure_text(value, points, f"{where}.plot.{key}") if key in drawn else value
                for key, value in panel.plot.items()
            },
            points=points,
            baseline_label=figure_text(label, points, f"{where}.baseline.label", in_legend=True),
            baselines=baselines,
        )

    def _points(self, panel: PanelText) -> tuple[list[Point], str]:
        """A panel's configurations with their runs, and the scale whose numbers they have."""
        if panel.loan is not None:
            return self._borrowed(panel.loan, panel.entry.stages)
        return self._own_points[panel.name], self.scale.name

    @cached_property
    def _own(self) -> dict[str, list[Configuration]]:
        """The configurations of the panels of this scale that have curves of their own."""
        panels = (self.file.panels[name] for name in self._shown)
        return {one.name: self._configurations(one) for one in panels if one.loan is None}

    def _configurations(self, panel: PanelText) -> list[Configuration]:
        setting = self._setting(panel)
        return [one for curve in panel.curves for one in curve_configurations(curve, setting)]

    def _setting(self, panel: PanelText) -> Setting:
        common = {**self.file.shared, **self.scale.run}
        return Setting(common, common, self.scale).within(panel.run)

    @cached_property
    def _stages(self) -> Stages:
        return Stages(
            self.scale,
            self.file.seeds,
            chosen(self.scale.ten_tuning_seeds, self._own),
            chosen(self.scale.acknowledged_edges, self._own),
        )

    @cached_property
    def _own_points(self) -> dict[str, list[Point]]:
        return self._with_runs(self._own)

    def _with_runs(self, panels: dict[str, list[Configuration]]) -> dict[str, list[Point]]:
        """The configurations of panels with their runs, which they share where they can."""
        side_by_side = self._stages.side_by_side(one for panel in panels.values() for one in panel)
        return {
            name: [
                self._stages.point(one, self.file.panels[name].entry.stages, side_by_side)
                for one in panel
            ]
            for name, panel in panels.items()
        }

    def _borrowed(self, loan: Loan, stages: tuple[str, ...]) -> tuple[list[Point], str]:
        """Configurations of another figure's panels at the same scale, each once."""
        folder = self.file.path.parent
        known = [path.stem for path in self.folder.paths if path.parent == folder]
        if loan.figure not in known:
            raise CatalogueError(f"{loan.where}.figure", not_among(loan.figure, known, "figure"))
        other = self.folder.expansion(folder / f"{loan.figure}.yaml", self.asked)
        points = [
            point for name in loan.panels for point in other.lent(name, f"{loan.where}.panels")
        ]
        have = {point.curve for point in points}
        for curve in loan.curves:
            if curve not in have:
                raise CatalogueError(
                    f"{loan.where}.curves", not_among(curve, sorted(have), "curve")
                )
        once = {point.runs[0].hash: point for point in points if point.curve in loan.curves}
        shown = [_relabelled(point, loan, stages) for point in once.values()]
        return shown, other.scale.name

    def lent(self, name: str, where: str) -> list[Point]:
        """A panel's own configurations, for another figure to show, which names it at `where`."""
        if name not in self.file.panels:
            raise CatalogueError(where, not_among(name, self.file.panels, "panel"))
        panel = self.file.panels[name]
        if panel.loan is not None:
            raise CatalogueError(where, f"{self.file.path.stem}'s panel {name} is borrowed itself")
        if name not in self._lent:
            with errors_of(self.file.path):
                if name in self._own:
                    self._lent[name] = self._own_points[name]
                else:  # this scale leaves it out
                    self._lent |= self._with_runs({name: self._configurations(panel)})
        return self._lent[name]


def _check_x(panel: PanelText, points: list[Point]) -> None:
    """Curves sweep over what the panel's x axis shows."""
    x = panel.plot["x"]
    costs = {key for point in points for key in point.costs}
    variables = {key for point in points for key in point.sweep} | costs
    if x not in variables:
        raise CatalogueError(f"{panel.where}.plot.x", not_among(x, sorted(variables)))
    for point in points:
        if point.sweep and x not in {*point.sweep, *costs}:
            raise CatalogueError(
                f"{panel.where}.curves.{point.curve}.sweep",
                f"must sweep over the panel's x, {x}, or not at all",
            )


def _relabelled(point: Point, loan: Loan, stages: tuple[str, ...]) -> Point:
    """The point as another panel shows it, under a label that may name its fields."""
    values, where = {**run_values([point]), "label": [point.label]}, f"{loan.where}.label"
    text = drawable(filled(loan.label, values, where), where, in_legend=True)
    finals = point.finals if "final" in stages else []
    return replace(point, curve=text, label=text, finals=finals)
