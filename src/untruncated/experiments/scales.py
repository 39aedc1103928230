"""The numbers of a file's scales, and the configurations that a scale speaks of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from untruncated.catalogue import CatalogueError
from untruncated.catalogue.entry import Field, shown
from untruncated.experiments.figures import FALLBACKS, SCALES
from untruncated.experiments.keys import (
    CHOICE_KEYS,
    EDGE_KEYS,
    RUN_KEYS,
    SCALE_KEYS,
    SCALE_NUMBERS,
    STEP_SIZE,
    SWEPT,
)
from untruncated.experiments.reading import mapping, texts
from untruncated.experiments.said import Run, Said, said_run
from untruncated.experiments.spec import number_list


@dataclass(frozen=True)
class Choice:
    """Configurations of a curve, by the values of what it sweeps over; and why they are named."""

    panel: str
    curve: str
    values: Mapping[str, list[float]]
    why: str
    where: str


@dataclass(frozen=True)
class Scale:
    """The numbers of one scale; None where the file does not give one."""

    name: str
    steps: int | None = None
    particle_steps: int | None = None
    step_sizes: list[float] | None = None
    final_blocks: int | None = None
    least_iterations: int = 1
    lists: Mapping[str, list] = field(default_factory=dict)
    run: Run = field(default_factory=dict)
    panels: list[str] | None = None
    acknowledged_edges: tuple[Choice, ...] = ()
    ten_tuning_seeds: tuple[Choice, ...] = ()

    @property
    def where(self) -> str:
        """Its place in the file."""
        return f"scales.{self.name}"

    def need(self, name: str) -> Any:
        """One of the numbers.

        Raises:
            CatalogueError: The file does not give it.
        """
        value = getattr(self, name)
        if value is None:
            raise CatalogueError(f"{self.where}.{name}", "is missing")
        return value

    def said(self, name: str, value: Any = None) -> Said:
        """One of the numbers, or what follows from it, with its place."""
        return Said(self.need(name) if value is None else value, f"{self.where}.{name}")


def read_scales(raw: Mapping[str, Any]) -> dict[str, Scale]:
    """Every scale of a file, whichever is asked for; empty ones where a file has no runs.

    Raises:
        CatalogueError: A scale is missing or not valid.
    """
    if "scales" not in raw:
        return {name: Scale(name) for name in SCALES}
    required = tuple(name for name in SCALES if name not in FALLBACKS)
    given = mapping(raw["scales"], "scales", SCALES, required)
    own = {name: _scale(name, given[name]) for name in SCALES if name in given}
    return {name: own.get(name) or own[FALLBACKS[name]] for name in SCALES}


def _scale(name: str, raw: Any) -> Scale:
    where = f"scales.{name}"
    raw = mapping(raw, where, SCALE_KEYS)
    lists = mapping(raw.get("lists", {}), f"{where}.lists")
    given = {
        key: kind.coerce(raw[key], f"{where}.{key}")
        for key, kind in SCALE_NUMBERS.items()
        if key in raw
    }
    if "steps" in raw and "particle_steps" in raw:
        raise CatalogueError(f"{where}.particle_steps", "stands beside steps: give one of them")
    if "least_iterations" in raw and "particle_steps" not in raw:
        raise CatalogueError(f"{where}.least_iterations", "goes with particle_steps")
    if "step_sizes" in raw:
        given["step_sizes"] = number_list(raw["step_sizes"], STEP_SIZE, f"{where}.step_sizes")
    return Scale(
        name=name,
        lists={str(key): _list(value, f"{where}.lists.{key}") for key, value in lists.items()},
        run=said_run(mapping(raw.get("run", {}), f"{where}.run", RUN_KEYS), f"{where}.run"),
        panels=texts(raw["panels"], f"{where}.panels") if "panels" in raw else None,
        acknowledged_edges=_choices(raw, "acknowledged_edges", where, EDGE_KEYS),
        ten_tuning_seeds=_choices(raw, "ten_tuning_seeds", where, CHOICE_KEYS),
        **given,
    )


def _list(values: Any, where: str) -> list[int | float]:
    """What a curve sweeps over: whole numbers from 1 on or, if any is not whole, positive ones."""
    if isinstance(values, list) and any(isinstance(v, float) and v % 1 for v in values):
        return number_list(values, SWEPT, where)
    return number_list(values, Field(int, minimum=1), where)


def _choices(
    raw: Mapping[str, Any], key: str, where: str, required: tuple[str, ...]
) -> tuple[Choice, ...]:
    where, entries = f"{where}.{key}", raw.get(key, [])
    if not isinstance(entries, list):
        keys = ", ".join(required)
        raise CatalogueError(
            where, f"must be a list of entries with {keys} and swept values, not {shown(entries)}"
        )
    return tuple(
        _choice(entry, f"{where}[{index}]", required) for index, entry in enumerate(entries)
    )


def _choice(raw: Any, where: str, required: tuple[str, ...]) -> Choice:
    """One entry; a swept value may be several, which then all are chosen."""
    raw = mapping(raw, where, required=required)
    for key in set(EDGE_KEYS) - set(required):
        if key in raw:
            raise CatalogueError(f"{where}.{key}", "stands in acknowledged_edges alone")
    words = {key: Field(str).coerce(raw[key], f"{where}.{key}") for key in required}
    values = {
        str(key): _numbers(value, f"{where}.{key}")
        for key, value in raw.items()
        if key not in required
    }
    return Choice(words["panel"], words["curve"], values, words.get("why", ""), where)


def _numbers(value: Any, where: str) -> list[int | float]:
    """A swept value, or several."""
    if not isinstance(value, list):
        value, where = [Field(float).coerce(value, where)], where
    numbers = number_list(value, Field(float), where)
    return [int(number) if number % 1 == 0 else number for number in numbers]
