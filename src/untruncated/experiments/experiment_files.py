"""An experiment file as it stands: what each part says, and at which place. No scale yet.

What is wrong whatever the scale is found here, also in panels that a scale leaves out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untruncated.catalogue import CatalogueError, lookup
from untruncated.catalogue.entry import Field, shown
from untruncated.catalogue.plots import PlotEntry
from untruncated.experiments.keys import (
    CLAIM_KEYS,
    CURVE_KEYS,
    CURVES_OF_KEYS,
    EDGE_KEYS,
    FIGURE_KEYS,
    FIRST_SEED,
    PANEL_KEYS,
    RUN_KEYS,
    SEED_KEYS,
)
from untruncated.experiments.reading import mapping, texts
from untruncated.experiments.said import Run, Said, said_run, told_where_said
from untruncated.experiments.scales import Scale, read_scales
from untruncated.experiments.spec import SEEDS_PER_BLOCK
from untruncated.experiments.widths import component

_TEXT = Field(str)


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve: its label, what its runs say, and which lists it sweeps over, by variable."""

    name: str
    label: str
    run: Run
    sweep: Mapping[str, str]
    where: str


@dataclass(frozen=True, eq=False)
class Loan:
    """Curves of another file's panels, and their labels."""

    figure: Any
    panels: list[str]
    curves: list[str]
    label: str
    where: str


@dataclass(frozen=True, eq=False)
class Baseline:
    """A panel's baseline: its label, and what its run says."""

    label: str
    run: Run
    where: str


@dataclass(frozen=True, eq=False)
class PanelText:
    """A panel: how it is drawn, what its runs say, and its curves or where they are lent from."""

    name: str
    title: str
    plot: dict[str, Any]
    entry: PlotEntry
    run: Run
    curves: list[Curve]
    loan: Loan | None
    baseline: Baseline | None

    @property
    def where(self) -> str:
        """Its place in the file."""
        return f"panels.{self.name}"


@dataclass(frozen=True, eq=False)
class ExperimentFile:
    """All that one file says."""

    path: Path
    paper: str
    title: str
    caption: str
    shared: Run
    seeds: Mapping[str, int] | None
    scales: Mapping[str, Scale]
    panels: Mapping[str, PanelText]
    claims: list[dict[str, str]]

    @property
    def name(self) -> str:
        """The figure's name."""
        return f"{self.paper}_{self.path.stem}"


def read_experiment(path: Path, raw: Any) -> ExperimentFile:
    """The file at `path`, of which this is the content.

    Raises:
        CatalogueError: It is not valid; names the field by its dotted path, and what is allowed.
    """
    raw = mapping(raw, "the file", FIGURE_KEYS, required=("paper", "title", "panels"))
    shared = said_run(mapping(raw.get("shared", {}), "shared", RUN_KEYS), "shared")
    seeds, scales = _seeds(raw), read_scales(raw)
    _check_seeds(seeds, scales)
    panels = mapping(raw["panels"], "panels")
    if not panels:
        raise CatalogueError("panels", "has no panel")
    paper = _TEXT.coerce(raw["paper"], "paper")
    if paper != path.parent.name:
        raise CatalogueError("paper", f"must be the folder's name, {path.parent.name}")
    if not re.fullmatch(r"[a-z]+[0-9]+|companion(_[a-z]+)+[0-9]*", path.stem):
        raise CatalogueError(
            "the file's name",
            "must be letters and a number, like figure2.yaml or table1.yaml, or companion_ and "
            "a word, like companion_targets_e10.yaml",
        )
    return ExperimentFile(
        path=path,
        paper=paper,
        title=_TEXT.coerce(raw["title"], "title"),
        caption=" ".join(_TEXT.coerce(raw.get("caption", ""), "caption").split()),
        shared=shared,
        seeds=seeds,
        scales=scales,
        panels={str(name): _panel(str(name), panel) for name, panel in panels.items()},
        claims=_claims(raw.get("claims", [])),
    )


def _seeds(raw: Mapping[str, Any]) -> dict[str, int] | None:
    """The first seed of each stage."""
    if "seeds" not in raw:
        return None
    given = mapping(raw["seeds"], "seeds", SEED_KEYS, SEED_KEYS)
    return {key: FIRST_SEED.coerce(given[key], f"seeds.{key}") for key in given}


def _check_seeds(seeds: Mapping[str, int] | None, scales: Mapping[str, Scale]) -> None:
    """Final seeds must be new: a step size is not judged on the seeds that chose it."""
    if seeds is None:
        return
    tuning, final = seeds["tuning"], seeds["final"]
    blocks = max(scale.final_blocks or 1 for scale in scales.values())
    tuned = 2 if any(scale.ten_tuning_seeds for scale in scales.values()) else 1
    if tuning < final + SEEDS_PER_BLOCK * blocks and final < tuning + SEEDS_PER_BLOCK * tuned:
        raise CatalogueError(
            "seeds.final",
            f"{final} and the seeds after it overlap with the tuning seeds from {tuning} on",
        )
    for stage, count in (("tuning", tuned), ("final", blocks)):
        largest = seeds[stage] + SEEDS_PER_BLOCK * count - 1
        Field(int).coerce(largest, f"seeds.{stage}")


def _panel(name: str, raw: Any) -> PanelText:
    where = f"panels.{name}"
    if len(name) != 1 or not ("a" <= name <= "z"):
        raise CatalogueError(where, "a panel's name is one letter, a to z")
    raw = mapping(raw, where, PANEL_KEYS, ("title", "plot"))
    said = Said(raw["plot"], f"{where}.plot")
    with told_where_said({"plot": said}, said.where):
        plot = component("plot", said.value, "spec.plot")
    entry = lookup("plot", plot["name"], said.where)
    if not entry.stages:
        for key in ("curves", "curves_of", "baseline"):
            if key in raw:
                raise CatalogueError(f"{where}.{key}", "a drawing has no runs")
    elif "curves_of" in raw and "curves" in raw:
        raise CatalogueError(f"{where}.curves_of", "stands beside curves: give one of them")
    has_curves = entry.stages and "curves_of" not in raw
    return PanelText(
        name=name,
        title=_TEXT.coerce(raw["title"], f"{where}.title"),
        plot=plot,
        entry=entry,
        run=said_run(raw, where),
        curves=_curves(raw.get("curves"), f"{where}.curves") if has_curves else [],
        loan=_loan(raw["curves_of"], f"{where}.curves_of") if "curves_of" in raw else None,
        baseline=_baseline(raw["baseline"], f"{where}.baseline") if "baseline" in raw else None,
    )


def _curves(raw: Any, where: str) -> list[Curve]:
    curves = mapping(raw, where)
    if not curves:
        raise CatalogueError(where, "has no curve")
    for name in curves:
        if not str(name).isprintable():
            raise CatalogueError(where, f"{name!a} cannot be printed")
    return [_curve(str(name), fields, f"{where}.{name}") for name, fields in curves.items()]


def _curve(name: str, raw: Any, where: str) -> Curve:
    raw = mapping(raw, where, CURVE_KEYS)
    label = _TEXT.coerce(raw.get("label", name), f"{where}.label")
    sweep = raw.get("sweep", {})
    if not isinstance(sweep, Mapping):
        raise CatalogueError(f"{where}.sweep", f"must be a mapping, not {shown(sweep)}")
    for variable in sweep:
        if variable in EDGE_KEYS:
            raise CatalogueError(f"{where}.sweep.{variable}", "is no name for a variable")
    return Curve(name, label, said_run(raw, where), sweep, where)


def _loan(raw: Any, where: str) -> Loan:
    raw = mapping(raw, where, CURVES_OF_KEYS, required=("figure", "panels", "curves"))
    panels, curves = (texts(raw[key], f"{where}.{key}") for key in ("panels", "curves"))
    label = _TEXT.coerce(raw.get("label", "{label}"), f"{where}.label")
    return Loan(raw["figure"], panels, curves, label, where)


def _baseline(raw: Any, where: str) -> Baseline:
    raw = mapping(raw, where, required=("label", "program"))
    label = _TEXT.coerce(raw["label"], f"{where}.label")
    own = {key: value for key, value in raw.items() if key != "label"}
    return Baseline(label, said_run(own, where, all_keys=True), where)


def _claims(raw: Any) -> list[dict[str, str]]:
    if not isinstance(raw, list):
        raise CatalogueError("claims", f"must be a list, not {shown(raw)}")
    return [
        {
            key: _TEXT.coerce(value, f"claims[{index}].{key}")
            for key, value in mapping(claim, f"claims[{index}]", CLAIM_KEYS, CLAIM_KEYS).items()
        }
        for index, claim in enumerate(raw)
    ]
