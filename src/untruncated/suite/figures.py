"""Experiment files: one YAML per figure, expanded at a scale into the runs that the figure needs.

The library knows nothing of either paper: what a figure shows stands in `experiments/` alone. See
`docs/experiments.md` for the keys.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from untruncated.catalogue import CatalogueError, lookup
from untruncated.catalogue.entry import Field, not_among
from untruncated.suite.errors import SpecError
from untruncated.suite.spec import SEEDS_PER_BLOCK, RunSpec, number_list, resolve_run, seed_block
from untruncated.suite.widths import component, flops, parameters, resolve_width

SCALES = ("smoke", "small", "paper")
_FIGURE_KEYS = ("paper", "title", "caption", "shared", "seeds", "scales", "panels", "claims")
_REQUIRED_KEYS = ("paper", "title", "shared", "seeds", "scales", "panels")
_SCALE_KEYS = ("steps", "step_sizes", "final_blocks", "lists", "acknowledged_edges")
_PANEL_KEYS = ("title", "plot", "curves", "baseline")
_CURVE_KEYS = ("label", "cell", "credit", "sweep")
_SHARED_KEYS = ("program", "environment", "learner", "precision", "fidelity")


@dataclass(frozen=True, eq=False)
class Point:
    """One configuration of a curve: its runs, its place in the sweep, and what it costs."""

    curve: str
    label: str
    cell: dict[str, Any]
    credit: dict[str, Any]
    sweep: dict[str, int | float]
    flops: int
    parameters: int
    tuning: RunSpec
    finals: list[RunSpec]


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
        tuned = itertools.chain.from_iterable([p.tuning, *p.finals] for p in self.points)
        return [*tuned, *self.baselines]


@dataclass(frozen=True, eq=False)
class Figure:
    """One figure at one scale."""

    name: str
    paper: str
    title: str
    caption: str
    scale: str
    steps: int
    fidelity: str
    source: Path
    panels: dict[str, Panel]
    acknowledged_edges: dict[str, str]
    claims: list[dict[str, str]] = field(default_factory=list)

    @property
    def runs(self) -> dict[str, RunSpec]:
        """All runs by hash; a run that two panels share stands once."""
        return {run.hash: run for panel in self.panels.values() for run in panel.runs}


def load_figures(folder: Path, scale: str) -> dict[str, Figure]:
    """All figures under an experiments folder, by name: `<paper>_<file name>`.

    Raises:
        SpecError: A file is not valid; says which, where in it, and what is allowed.
    """
    check_scale(scale)
    paths = sorted(Path(folder).glob("*/*.yaml"))
    if not paths:
        raise SpecError(f"{folder}: no experiment files (<paper>/<figure>.yaml) here")
    figures = (load_figure(path, scale) for path in paths)
    return {figure.name: figure for figure in figures}


def check_scale(scale: str) -> None:
    """Raises a SpecError unless `scale` is one."""
    if scale not in SCALES:
        raise SpecError(f"--config scale: {not_among(scale, SCALES)}")


def load_figure(path: Path, scale: str) -> Figure:
    """One experiment file, expanded at a scale.

    Raises:
        SpecError: As `load_figures`.
    """
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}, column {mark.column + 1}:" if mark else ""
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise SpecError(f"{path}:{line} not valid YAML: {problem}") from error
    try:
        return _Expansion(path, raw, scale).figure()
    except CatalogueError as error:
        raise SpecError(f"{path}: {error}") from error


class _UniqueKeys(yaml.SafeLoader):
    """A loader to which a key given twice, as a copied curve, is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if keys.count(key) > 1 and key != "<<":
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", node.start_mark
                )
        return super().construct_mapping(node, deep)


class _Expansion:
    """Walks one file's tree; every error names the field by its dotted path."""

    def __init__(self, path: Path, raw: Any, scale: str) -> None:
        self.path, self.scale_name = path, scale
        self.raw = _mapping(raw, "the file", _FIGURE_KEYS, required=_REQUIRED_KEYS)
        self.shared = _mapping(self.raw["shared"], "shared", _SHARED_KEYS, ("program",))
        self.seeds = self._first_seeds()
        scales = _mapping(self.raw["scales"], "scales", SCALES, required=SCALES)
        # every scale is checked whichever is asked for
        self.scales = {name: self._scale(name, scales[name]) for name in SCALES}
        self.scale = self.scales[scale]
        self._check_seeds()

    def figure(self) -> Figure:
        panels = _mapping(self.raw["panels"], "panels")
        if not panels:
            raise CatalogueError("panels", "has no panel")
        paper = Field(str).coerce(self.raw["paper"], "paper")
        if paper != self.path.parent.name:
            raise CatalogueError("paper", f"must be the folder's name, {self.path.parent.name}")
        if not re.fullmatch(r"[a-z]+[0-9]+", self.path.stem):
            raise CatalogueError(
                "the file's name", "must be letters and a number, like figure2.yaml or table1.yaml"
            )
        return Figure(
            name=f"{paper}_{self.path.stem}",
            paper=paper,
            title=Field(str).coerce(self.raw["title"], "title"),
            caption=Field(str).coerce(self.raw.get("caption", ""), "caption"),
            scale=self.scale_name,
            steps=self.scale["steps"],
            fidelity=str(self.shared.get("fidelity", "exact")),
            source=self.path,
            panels={str(name): self._panel(str(name), raw) for name, raw in panels.items()},
            acknowledged_edges=self.scale["acknowledged_edges"],
            claims=_claims(self.raw.get("claims", [])),
        )

    def _first_seeds(self) -> dict[str, int]:
        raw = _mapping(self.raw["seeds"], "seeds", ("tuning", "final"), ("tuning", "final"))
        return {key: Field(int, minimum=0).coerce(raw[key], f"seeds.{key}") for key in raw}

    def _check_seeds(self) -> None:
        """Final seeds must be new: a step size is not judged on the seeds that chose it."""
        tuning, final = self.seeds["tuning"], self.seeds["final"]
        blocks = max(scale["final_blocks"] for scale in self.scales.values())
        if tuning < final + SEEDS_PER_BLOCK * blocks and final < tuning + SEEDS_PER_BLOCK:
            raise CatalogueError(
                "seeds.final",
                f"{final} and the seeds after it overlap with the tuning seeds from {tuning} on",
            )

    def _scale(self, name: str, raw: Any) -> dict[str, Any]:
        where = f"scales.{name}"
        raw = _mapping(raw, where, _SCALE_KEYS, ("steps", "step_sizes", "final_blocks"))
        lists = _mapping(raw.get("lists", {}), f"{where}.lists")
        edges = _mapping(raw.get("acknowledged_edges", {}), f"{where}.acknowledged_edges")
        return {
            "steps": Field(int, minimum=1).coerce(raw["steps"], f"{where}.steps"),
            "step_sizes": number_list(
                raw["step_sizes"], Field(float, minimum=0), f"{where}.step_sizes"
            ),
            "final_blocks": Field(int, minimum=1).coerce(
                raw["final_blocks"], f"{where}.final_blocks"
            ),
            "lists": {
                key: number_list(value, Field(int, minimum=1), f"{where}.lists.{key}")
                for key, value in lists.items()
            },
            "acknowledged_edges": {str(key): str(value) for key, value in edges.items()},
        }

    def _panel(self, name: str, raw: Any) -> Panel:
        where = f"panels.{name}"
        if len(name) != 1 or not ("a" <= name <= "z"):
            raise CatalogueError(where, "a panel's name is one letter, a to z")
        raw = _mapping(raw, where, _PANEL_KEYS, ("title", "plot", "curves"))
        curves = _mapping(raw["curves"], f"{where}.curves")
        if not curves:
            raise CatalogueError(f"{where}.curves", "has no curve")
        points = [
            point
            for curve, fields in curves.items()
            for point in self._points(str(curve), fields, f"{where}.curves.{curve}")
        ]
        label, baselines = self._baseline(raw.get("baseline"), f"{where}.baseline")
        plot = component("plot", raw["plot"], f"{where}.plot")
        variables = {key for point in points for key in point.sweep} | {"flops", "parameters"}
        if plot["x"] not in variables:
            raise CatalogueError(f"{where}.plot.x", not_among(plot["x"], sorted(variables)))
        for point in points:
            if point.sweep and plot["x"] not in {*point.sweep, "flops", "parameters"}:
                raise CatalogueError(
                    f"{where}.curves.{point.curve}.sweep",
                    f"must sweep over the panel's x, {plot['x']}, or not at all",
                )
        title = Field(str).coerce(raw["title"], f"{where}.title")
        return Panel(name, title, plot, points, label, baselines)

    def _baseline(self, raw: Any, where: str) -> tuple[str, list[RunSpec]]:
        if raw is None:
            return "", []
        raw = dict(_mapping(raw, where, required=("label", "program")))
        label = Field(str).coerce(raw.pop("label"), f"{where}.label")
        inherited = {
            key: self.shared[key]
            for key in ("environment", "precision", "fidelity")
            if key in self.shared
        }
        spec = {**inherited, "steps": self.scale["steps"], **raw}
        learner = component("learner", self.shared.get("learner"), "shared.learner")
        # the line would be of another return
        if spec.get("discount", learner["discount"]) != learner["discount"]:
            raise CatalogueError(
                f"{where}.discount", f"must be the learner's, {learner['discount']}"
            )
        spec["discount"] = learner["discount"]
        return label, [resolve_run({**spec, "seeds": block}, where) for block in self._finals()]

    def _finals(self) -> list[list[int]]:
        blocks = range(self.scale["final_blocks"])
        return [seed_block(self.seeds["final"], block) for block in blocks]

    def _points(self, curve: str, raw: Any, where: str) -> Iterator[Point]:
        raw = _mapping(raw, where, _CURVE_KEYS, ("cell", "credit"))
        sweep = _mapping(raw.get("sweep", {}), f"{where}.sweep")
        lists = []
        for variable, name in sweep.items():
            if not isinstance(name, str) or name not in self.scale["lists"]:
                raise CatalogueError(
                    f"{where}.sweep.{variable}", not_among(name, self.scale["lists"])
                )
            lists.append(self.scale["lists"][name])
        for values in itertools.product(*lists):
            yield self._point(curve, raw, dict(zip(sweep, values, strict=True)), where)

    def _point(
        self, curve: str, raw: Mapping[str, Any], sweep: dict[str, Any], where: str
    ) -> Point:
        filled = {key: _substitute(raw[key], sweep, f"{where}.{key}") for key in ("cell", "credit")}
        inputs = self._inputs()
        credit = component("credit", filled["credit"], f"{where}.credit")
        cell = resolve_width(filled["cell"], credit, inputs, f"{where}.cell")
        spec = {**self.shared, "steps": self.scale["steps"], "cell": cell, "credit": credit}
        tuning = resolve_run(
            {
                **spec,
                "step_sizes": self.scale["step_sizes"],
                "seeds": seed_block(self.seeds["tuning"], 0),
            },
            where,
        )
        finals = [
            resolve_run({**spec, "tuning": tuning.hash, "seeds": seeds}, where)
            for seeds in self._finals()
        ]
        return Point(
            curve=curve,
            label=Field(str).coerce(raw.get("label", curve), f"{where}.label"),
            cell=cell,
            credit=credit,
            sweep=sweep,
            flops=flops(cell, credit, inputs),
            parameters=parameters(cell, inputs),
            tuning=tuning,
            finals=finals,
        )

    def _inputs(self) -> int:
        where = "shared.environment"
        environment = component("environment", self.shared.get("environment"), where)
        entry = lookup("environment", environment["name"], where)
        return entry.observation_size(environment)


def _mapping(
    raw: Any, where: str, allowed: tuple[str, ...] = (), required: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """`raw`, if it is a mapping with the required keys and none but the allowed ones."""
    if not isinstance(raw, Mapping):
        raise CatalogueError(where, f"must be a mapping, not {raw!r}")
    prefix = "" if where == "the file" else f"{where}."
    for key in raw:
        if allowed and key not in allowed:
            raise CatalogueError(f"{prefix}{key}", not_among(key, allowed, "key"))
    for key in required:
        if key not in raw:
            raise CatalogueError(f"{prefix}{key}", "is missing")
    return raw


def _substitute(value: Any, sweep: Mapping[str, Any], where: str) -> Any:
    """Replaces "$name" by the sweep variable of that name, at any depth."""
    if isinstance(value, Mapping):
        return {key: _substitute(item, sweep, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, str) and value.startswith("$"):
        if value[1:] not in sweep:
            raise CatalogueError(where, f"no sweep variable {value}. {not_among(value[1:], sweep)}")
        return sweep[value[1:]]
    return value


def _claims(raw: Any) -> list[dict[str, str]]:
    if not isinstance(raw, list):
        raise CatalogueError("claims", f"must be a list, not {raw!r}")
    keys = ("id", "text", "source")
    return [
        {
            key: Field(str).coerce(value, f"claims[{index}].{key}")
            for key, value in _mapping(claim, f"claims[{index}]", keys, keys).items()
        }
        for index, claim in enumerate(raw)
    ]
