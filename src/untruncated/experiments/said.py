"""What an experiment file says at one place, and errors that are told at that place."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from untruncated.catalogue import CatalogueError, lookup
from untruncated.catalogue.entry import not_among
from untruncated.experiments.keys import COMPONENTS, RUN_KEYS
from untruncated.experiments.spec import Component, resolve_component, with_canonical
from untruncated.experiments.widths import check_component, is_swept, resolve_width

# What the fields of a run are called where it is not said which file they stand in.
SPEC = "spec"


@dataclass(frozen=True, eq=False)
class Said:
    """A value and the dotted path of its place; `$variable` in it is a value of a curve's sweep.

    Each component is resolved once for all configurations with the same values of its variables.
    """

    value: Any
    where: str
    _known: dict[tuple, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The sweep variables in it."""
        return tuple(dict.fromkeys(_variables(self.value)))

    def under(self, sweep: Mapping[str, Any]) -> Any:
        """The value with those of the sweep in place of its variables."""
        return _substitute(self.value, sweep, self.where) if self.variables else self.value

    def check(self, kind: str) -> None:
        """Raises a CatalogueError if it is no component, whatever its variables stand for."""
        with told_where_said({kind: self}, self.where):
            check_component(kind, self.value, f"{SPEC}.{kind}")

    def component(self, kind: str, sweep: Mapping[str, Any]) -> Component:
        """The component that it is.

        Raises:
            CatalogueError: Names the field and what is allowed.
        """
        key = (kind, *(sweep.get(name) for name in self.variables))
        if key not in self._known:
            with told_where_said({kind: self}, self.where):
                value = self.under(sweep)
                self._known[key] = resolve_component(kind, value, f"{SPEC}.{kind}")
        return self._known[key]

    def cell(
        self, sweep: Mapping[str, Any], credit: Mapping[str, Any], inputs: int, said: "Run"
    ) -> Component:
        """The cell that it is, of the width that meets a budget if it has one.

        Raises:
            CatalogueError: As `component`; or no width meets the budget.
        """
        if not self.has_budget:
            return self.component("cell", sweep)
        key = ("cell", *(sweep.get(name) for name in self.variables), inputs, *credit.items())
        if key not in self._known:
            with told_where_said(said, self.where):
                value, where = self.under(sweep), f"{SPEC}.cell"
                cell = resolve_width(value, credit, inputs, where, f"{SPEC}.credit")
                self._known[key] = with_canonical("cell", cell, value, where)
        return self._known[key]

    @property
    def has_budget(self) -> bool:
        """Whether it is a cell whose width is still to be found."""
        return isinstance(self.value, Mapping) and isinstance(self.value.get("width"), Mapping)

    def stated(self, kind: str) -> dict[str, Any]:
        """The component's fields as far as it says them, defaults included; swept ones are None."""
        key = ("stated", kind)
        if key not in self._known:
            given = self.value if isinstance(self.value, Mapping) else {"name": self.value}
            fields = lookup(kind, given["name"], f"{self.where}.name").fields
            said = {name: given[name] for name in fields if name in given}
            self._known[key] = {
                "name": given["name"],
                **{name: one.default for name, one in fields.items()},
                **{
                    name: None if is_swept(value) else fields[name].coerce(value, self.where)
                    for name, value in said.items()
                },
            }
        return self._known[key]


Run = Mapping[str, Said]


def _variables(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _variables(item)
    elif is_swept(value):
        yield value[1:]


def _substitute(value: Any, sweep: Mapping[str, Any], where: str) -> Any:
    """Replaces "$name" by the sweep variable of that name, at any depth of mappings."""
    if isinstance(value, Mapping):
        return {key: _substitute(item, sweep, f"{where}.{key}") for key, item in value.items()}
    if is_swept(value):
        if value[1:] not in sweep:
            raise CatalogueError(where, f"no sweep variable {value}. {not_among(value[1:], sweep)}")
        return sweep[value[1:]]
    return value


@contextmanager
def told_where_said(said: Run, where: str) -> Iterator[None]:
    """Errors of the field `spec.x` of a run name the place where the file says x.

    What it does not say is told as missing, or as a default that does not fit, at `where`.
    """
    try:
        yield
    except CatalogueError as error:
        room, _, path = error.where.partition(".")
        if room != SPEC:
            raise
        key, rest = _split(path)
        if key not in said:
            raise CatalogueError(f"{where}.{path}", error.problem) from error
        place, value = _within(said[key].value, rest)
        swept = f" ({value} of the sweep)" if is_swept(value) else ""
        raise CatalogueError(f"{said[key].where}{place}", f"{error.problem}{swept}") from error


def _split(path: str) -> tuple[str, str]:
    """The first name of a dotted path, and the rest with what parts it from that."""
    length = next((index for index, letter in enumerate(path) if letter in ".["), len(path))
    return path[:length], path[length:]


def _within(value: Any, path: str) -> tuple[str, Any]:
    """The part of a path that the file has, and what stands there.

    A component that is a name alone has no `.name`.
    """
    if not path.startswith("."):
        return path, value
    if not isinstance(value, Mapping):
        return "", value
    key, rest = _split(path[1:])
    place, found = _within(value.get(key, {}), rest)
    return f".{key}{place}", found


def said_run(raw: Mapping[str, Any], where: str, all_keys: bool = False) -> dict[str, Said]:
    """What a part of a file says of its runs; components are checked as far as that can be.

    Args:
        raw: The part, which may have other keys besides.
        where: Its place.
        all_keys: Whether every key is one of a run.

    Raises:
        CatalogueError: A component or a program is none.
    """
    said = {
        str(key): Said(value, f"{where}.{key}")
        for key, value in raw.items()
        if all_keys or key in RUN_KEYS
    }
    for key, value in said.items():
        if key == "program":
            lookup("program", value.value, value.where)
        elif key in COMPONENTS:
            value.check(key)
    return said
