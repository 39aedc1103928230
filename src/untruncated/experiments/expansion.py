"""Experiment files: one YAML per figure, expanded at a scale into the runs that the figure needs.

The library knows nothing of either paper: what a figure shows stands in `experiments/` alone. See
`docs/experiments.md` for the keys.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from untruncated.basics.errors import SpecError
from untruncated.catalogue import CatalogueError, lookup
from untruncated.catalogue.entry import Field, not_among, shown
from untruncated.catalogue.plots import PlotEntry
from untruncated.experiments.compatibility import check_same_return
from untruncated.experiments.configurations import (
    CURVE_KEYS,
    RUN_KEYS,
    Scale,
    Setting,
    curve_points,
    gather,
)
from untruncated.experiments.figures import (
    FALLBACKS,
    SCALES,
    Broken,
    Experiments,
    Figure,
    Panel,
    Point,
)
from untruncated.experiments.reading import mapping, read_yaml, texts
from untruncated.experiments.spec import SEEDS_PER_BLOCK, RunSpec, number_list, resolve_run
from untruncated.experiments.texts import drawable, figure_text, filled, run_values
from untruncated.experiments.widths import component

_FIGURE_KEYS = ("paper", "title", "caption", "shared", "seeds", "scales", "panels", "claims")
_SCALE_KEYS = (
    "steps",
    "particle_steps",
    "step_sizes",
    "final_blocks",
    "lists",
    "run",
    "panels",
    "least_iterations",
    "acknowledged_edges",
    "ten_tuning_seeds",
)
_PANEL_KEYS = ("title", "plot", "curves", "curves_of", "baseline", *RUN_KEYS)
_BLOCKS = Field(int, minimum=1, maximum=1000)
_CURVES_OF_KEYS = ("figure", "panels", "curves", "label")


def load_figures(folder: Path, scale: str) -> Experiments:
    """All figures under an experiments folder, by name: `<paper>_<file name>`.

    A file that is not valid is `broken`, with its error; the others are read all the same.

    Raises:
        SpecError: There is no such scale, or no file.
    """
    check_scale(scale)
    figures, broken = {}, []
    for path in _experiment_files(Path(folder)):
        try:
            figure = load_figure(path, scale)
        except SpecError as error:
            broken.append(Broken(path.parent.name, path.stem, error))
        else:
            figures[figure.name] = figure
    return Experiments(figures, broken)


def _experiment_files(folder: Path) -> list[Path]:
    """The files under an experiments folder, but for hidden ones, which are an editor's."""
    try:
        papers = [paper for paper in sorted(folder.iterdir()) if paper.is_dir()]
        found = [path for paper in papers for path in sorted(paper.iterdir())]
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            raise SpecError(f"{error.filename}: cannot be read: {error.strerror}") from error
        found = []
    paths = [path for path in found if path.suffix == ".yaml" and path.name[0] != "."]
    if not paths:
        raise SpecError(f"{folder}: no experiment files (<paper>/<figure>.yaml) here")
    return paths


def check_scale(scale: str, where: str = "--scale") -> None:
    """Raises a SpecError unless `scale`, which was given as `where`, is one."""
    if scale not in SCALES:
        raise SpecError(f"{where}: {not_among(scale, SCALES)}")


def load_figure(path: Path, scale: str) -> Figure:
    """One experiment file, expanded at a scale.

    Raises:
        SpecError: The file is not valid; says where in it, and what is allowed.
    """
    with _errors_of(path):
        return _Expansion(path, read_yaml(path), scale).figure()


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Errors in the body are told as those of a file."""
    try:
        yield
    except CatalogueError as error:
        raise SpecError(f"{path}: {error}") from error


class _Expansion:
    """Walks one file's tree; every error names the field by its dotted path."""

    def __init__(self, path: Path, raw: Any, scale: str) -> None:
        self.path, self.scale_name = path, scale
        self.raw = mapping(raw, "the file", _FIGURE_KEYS, required=("paper", "title", "panels"))
        self.shared = mapping(self.raw.get("shared", {}), "shared", RUN_KEYS)
        self.seeds = self._first_seeds()
        self.scales = self._scales()
        self._check_seeds()
        self.scale = self.scales[scale]

    def figure(self) -> Figure:
        panels = mapping(self.raw["panels"], "panels")
        if not panels:
            raise CatalogueError("panels", "has no panel")
        paper = Field(str).coerce(self.raw["paper"], "paper")
        if paper != self.path.parent.name:
            raise CatalogueError("paper", f"must be the folder's name, {self.path.parent.name}")
        if not re.fullmatch(r"[a-z]+[0-9]+|companion(_[a-z]+)+[0-9]*", self.path.stem):
            raise CatalogueError(
                "the file's name",
                "must be letters and a number, like figure2.yaml or table1.yaml, or companion_ and "
                "a word, like companion_targets_e10.yaml",
            )
        shown = self._gathered([self.panel(name) for name in self._shown(panels)])
        self._check_ten_tuning_seeds(shown)
        points = [point for panel in shown.values() for point in panel.points]
        caption = Field(str).coerce(self.raw.get("caption", ""), "caption")
        return Figure(
            name=f"{paper}_{self.path.stem}",
            paper=paper,
            title=figure_text(Field(str).coerce(self.raw["title"], "title"), points, "title"),
            caption=figure_text(" ".join(caption.split()), points, "caption"),
            scale=self.scale_name,
            source=self.path,
            panels=shown,
            acknowledged_edges=dict(self.scale.acknowledged_edges),
            claims=_claims(self.raw.get("claims", [])),
        )

    def _check_ten_tuning_seeds(self, panels: Mapping[str, Panel]) -> None:
        """Whether each name is that of a configuration: a misspelt one would be tuned on five."""
        points = [point for panel in panels.values() for point in panel.points]
        tuned = sorted({point.configuration for point in points if point.tuning})
        for name in self.scale.ten_tuning_seeds:
            if name not in tuned:
                where = f"scales.{self.scale.name}.ten_tuning_seeds"
                raise CatalogueError(where, not_among(name, tuned, "configuration"))

    def _shown(self, panels: Mapping[str, Any]) -> list[str]:
        """The panels of this scale: all, unless it names some."""
        names = [str(name) for name in panels]
        where = f"scales.{self.scale.name}.panels"
        for name in self.scale.panels or []:
            if name not in names:
                raise CatalogueError(where, not_among(name, names, "panel"))
        return [name for name in names if self.scale.panels is None or name in self.scale.panels]

    def _first_seeds(self) -> dict[str, int] | None:
        if "seeds" not in self.raw:
            return None
        raw = mapping(self.raw["seeds"], "seeds", ("tuning", "final"), ("tuning", "final"))
        return {key: Field(int, minimum=0).coerce(raw[key], f"seeds.{key}") for key in raw}

    def _check_seeds(self) -> None:
        """Final seeds must be new: a step size is not judged on the seeds that chose it."""
        if self.seeds is None:
            return
        tuning, final = self.seeds["tuning"], self.seeds["final"]
        blocks = max(scale.final_blocks or 1 for scale in self.scales.values())
        tuned = 2 if any(scale.ten_tuning_seeds for scale in self.scales.values()) else 1
        if tuning < final + SEEDS_PER_BLOCK * blocks and final < tuning + SEEDS_PER_BLOCK * tuned:
            raise CatalogueError(
                "seeds.final",
                f"{final} and the seeds after it overlap with the tuning seeds from {tuning} on",
            )

    def _scales(self) -> dict[str, Scale]:
        """Every scale, checked whichever is asked for; empty ones where a file has no runs."""
        if "scales" not in self.raw:
            return {name: Scale(name) for name in SCALES}
        required = tuple(name for name in SCALES if name not in FALLBACKS)
        raw = mapping(self.raw["scales"], "scales", SCALES, required)
        own = {name: self._scale(name, raw[name]) for name in SCALES if name in raw}
        return {name: own.get(name) or own[FALLBACKS[name]] for name in SCALES}

    def _scale(self, name: str, raw: Any) -> Scale:
        where = f"scales.{name}"
        raw = mapping(raw, where, _SCALE_KEYS)
        lists = mapping(raw.get("lists", {}), f"{where}.lists")
        edges = mapping(raw.get("acknowledged_edges", {}), f"{where}.acknowledged_edges")
        whole, sizes = Field(int, minimum=1), Field(float, minimum=0)
        kinds = {
            "steps": whole,
            "particle_steps": whole,
            "least_iterations": whole,
            "final_blocks": _BLOCKS,
        }
        numbers = {
            key: kind.coerce(raw[key], f"{where}.{key}")
            for key, kind in kinds.items()
            if key in raw
        }
        if "steps" in raw and "particle_steps" in raw:
            raise CatalogueError(f"{where}.particle_steps", "stands beside steps: give one of them")
        if "least_iterations" in raw and "particle_steps" not in raw:
            raise CatalogueError(f"{where}.least_iterations", "goes with particle_steps")
        if "step_sizes" in raw:
            numbers["step_sizes"] = number_list(raw["step_sizes"], sizes, f"{where}.step_sizes")
        return Scale(
            name=name,
            lists={str(key): _list(value, f"{where}.lists.{key}") for key, value in lists.items()},
            panels=_names(raw, "panels", where),
            run=mapping(raw.get("run", {}), f"{where}.run", RUN_KEYS),
            acknowledged_edges={str(key): str(value) for key, value in edges.items()},
            ten_tuning_seeds=_names(raw, "ten_tuning_seeds", where) or [],
            **numbers,
        )

    def panel(self, name: str) -> Panel:
        """One panel of the file."""
        where = f"panels.{name}"
        if len(name) != 1 or not ("a" <= name <= "z"):
            raise CatalogueError(where, "a panel's name is one letter, a to z")
        raw = mapping(self.raw["panels"][name], where, _PANEL_KEYS, ("title", "plot"))
        plot = component("plot", raw["plot"], f"{where}.plot")
        entry = lookup("plot", plot["name"], f"{where}.plot.name")
        points, scale = self._points(raw, where, entry)
        if "x" in plot:
            _check_x(plot["x"], points, where)
        label, baselines = self._baseline(raw, f"{where}.baseline")
        label = figure_text(label, points, f"{where}.baseline.label", in_legend=True)
        title = Field(str).coerce(raw["title"], f"{where}.title")
        title = figure_text(title, points, f"{where}.title")
        plot |= {
            key: figure_text(plot[key], points, f"{where}.plot.{key}")
            for key, field in entry.fields.items()
            if field.drawn
        }
        return Panel(name, scale, title, plot, points, label, baselines)

    def _gathered(self, panels: list[Panel]) -> dict[str, Panel]:
        """The panels by name, with the runs that their points share."""
        points = [point for panel in panels for point in panel.points]
        left = iter(gather(points))
        return {
            panel.name: replace(panel, points=list(itertools.islice(left, len(panel.points))))
            for panel in panels
        }

    def _points(
        self, raw: Mapping[str, Any], where: str, entry: PlotEntry
    ) -> tuple[list[Point], str]:
        """The configurations of a panel, and the scale whose numbers they have."""
        if not entry.stages:
            for key in ("curves", "curves_of", "baseline"):
                if key in raw:
                    raise CatalogueError(f"{where}.{key}", "a drawing has no runs")
            return [], self.scale.name
        if "curves_of" in raw:
            if "curves" in raw:
                raise CatalogueError(f"{where}.curves_of", "stands beside curves: give one of them")
            return self._borrowed(raw["curves_of"], f"{where}.curves_of", entry.stages)
        setting = self._setting(raw, entry.stages)
        curves = mapping(raw.get("curves"), f"{where}.curves")
        if not curves:
            raise CatalogueError(f"{where}.curves", "has no curve")
        for curve in curves:
            if not str(curve).isprintable():
                raise CatalogueError(f"{where}.curves", f"{curve!a} cannot be printed")
        points = [
            point
            for curve, fields in curves.items()
            for point in curve_points(
                str(curve),
                mapping(fields, f"{where}.curves.{curve}", CURVE_KEYS),
                f"{where}.curves.{curve}",
                setting,
            )
        ]
        return points, self.scale.name

    def _setting(self, raw: Mapping[str, Any], stages: tuple[str, ...]) -> Setting:
        common = {**self.shared, **self.scale.run}
        return Setting(common, common, self.scale, self.seeds, stages).within(raw)

    def _borrowed(self, raw: Any, where: str, stages: tuple[str, ...]) -> tuple[list[Point], str]:
        """Configurations of another figure's panels at the same scale, each once."""
        raw = mapping(raw, where, _CURVES_OF_KEYS, required=("figure", "panels", "curves"))
        panels, wanted = (texts(raw[key], f"{where}.{key}") for key in ("panels", "curves"))
        label = Field(str).coerce(raw.get("label", "{label}"), f"{where}.label")
        known = sorted(path.stem for path in self.path.parent.glob("*.yaml"))
        if raw["figure"] not in known:
            raise CatalogueError(f"{where}.figure", not_among(raw["figure"], known, "figure"))
        path = self.path.parent / f"{raw['figure']}.yaml"
        with _errors_of(path):
            other = _Expansion(path, read_yaml(path), self.scale_name)
            lent = mapping(other.raw["panels"], "panels")
        points = [point for name in panels for point in other._lent(name, lent, f"{where}.panels")]
        have = {point.curve for point in points}
        for curve in wanted:
            if curve not in have:
                raise CatalogueError(f"{where}.curves", not_among(curve, sorted(have), "curve"))
        once = {point.runs[0].hash: point for point in points if point.curve in wanted}
        shown = [_relabelled(point, label, stages, f"{where}.label") for point in once.values()]
        return shown, other.scale.name

    def _lent(self, panel: str, panels: Mapping[str, Any], where: str) -> list[Point]:
        """A panel's own configurations, for another figure to show."""
        if panel not in panels:
            raise CatalogueError(where, not_among(panel, panels, "panel"))
        with _errors_of(self.path):
            if "curves_of" not in mapping(panels[panel], f"panels.{panel}"):
                return self.panel(panel).points
        raise CatalogueError(where, f"{self.path.stem}'s panel {panel} is borrowed itself")

    def _baseline(self, panel: Mapping[str, Any], where: str) -> tuple[str, list[RunSpec]]:
        if "baseline" not in panel:
            return "", []
        raw = dict(mapping(panel["baseline"], where, required=("label", "program")))
        label = Field(str).coerce(raw.pop("label"), f"{where}.label")
        setting = self._setting(panel, ("final",))
        program = lookup("program", raw["program"], f"{where}.program")
        inherited = {
            key: setting.run[key]
            for key in (*program.components, "precision")
            if key in setting.run
        }
        if "steps" in program.fields and "steps" not in raw:
            inherited["steps"] = self.scale.need("steps")
        spec = {**inherited, **raw}
        if "discount" in program.fields and "learner" in setting.run:
            learner = component("learner", setting.run.get("learner"), "shared.learner")
            spec.setdefault("discount", learner["discount"])
            check_same_return(spec["discount"], learner, f"{where}.discount")
        blocks = setting.final_seeds(program)
        return label, [resolve_run({**spec, "seeds": block}, where) for block in blocks]


def _names(raw: Mapping[str, Any], key: str, where: str) -> list[str] | None:
    """A list of names that may be left out."""
    return texts(raw[key], f"{where}.{key}") if key in raw else None


def _list(values: Any, where: str) -> list[int | float]:
    """What a curve sweeps over: whole numbers from 1 on or, if any is not whole, positive ones."""
    if isinstance(values, list) and any(isinstance(v, float) and v % 1 for v in values):
        return number_list(values, Field(float, above=0), where)
    return number_list(values, Field(int, minimum=1), where)


def _check_x(x: str, points: list[Point], where: str) -> None:
    costs = {key for point in points for key in point.costs}
    variables = {key for point in points for key in point.sweep} | costs
    if x not in variables:
        raise CatalogueError(f"{where}.plot.x", not_among(x, sorted(variables)))
    for point in points:
        if point.sweep and x not in {*point.sweep, *costs}:
            raise CatalogueError(
                f"{where}.curves.{point.curve}.sweep",
                f"must sweep over the panel's x, {x}, or not at all",
            )


def _relabelled(point: Point, label: str, stages: tuple[str, ...], where: str) -> Point:
    """The point as another panel shows it, under a label that may name its fields."""
    values = {**run_values([point]), "label": [point.label]}
    text = drawable(filled(label, values, where), where, in_legend=True)
    finals = point.finals if "final" in stages else []
    return replace(point, curve=text, label=text, finals=finals)


def _claims(raw: Any) -> list[dict[str, str]]:
    if not isinstance(raw, list):
        raise CatalogueError("claims", f"must be a list, not {shown(raw)}")
    keys = ("id", "text", "source")
    return [
        {
            key: Field(str).coerce(value, f"claims[{index}].{key}")
            for key, value in mapping(claim, f"claims[{index}]", keys, keys).items()
        }
        for index, claim in enumerate(raw)
    ]
