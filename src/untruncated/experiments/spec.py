"""Run specs: everything that changes a run's numbers, validated, in one canonical form.

A spec is JSON like

    {"program": "online_prediction", "steps": 200000, "environment": {...}, "cell": {...},
     "credit": {...}, "learner": {...}, "step_sizes": [...], "seeds": [...]}

A tuning run has `step_sizes`. A final run has `tuning` in their place, the hash of the tuning run
whose best step size it takes. Fields at their defaults are left out, so that a field added later
leaves old hashes as they are.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from untruncated.catalogue import CatalogueError, lookup
from untruncated.catalogue.entry import Field, not_among, shown
from untruncated.catalogue.programs import ProgramEntry
from untruncated.experiments.compatibility import check_fit
from untruncated.experiments.keys import STEP_SIZE
from untruncated.experiments.widths import component, with_window
from untruncated.results.result_files import canonical_json, hash_of

_SEED = Field(int, minimum=0, maximum=2**31 - 1)
SEEDS_PER_BLOCK = 5


class Component(NamedTuple):
    """A component with all its fields, and its canonical form."""

    fields: dict[str, Any]
    canonical: dict[str, Any]


@dataclass(frozen=True, eq=False)
class RunSpec:
    """A validated run. `fields` has every field, defaults included; `canonical` is its identity.

    What `assemble` gives is a run but for its stage, which `at` adds.
    """

    fields: dict[str, Any]
    canonical: dict[str, Any]

    @cached_property
    def hash(self) -> str:
        """The run's name: 16 hex digits."""
        return hash_of(self.json)

    @cached_property
    def json(self) -> str:
        """The canonical JSON text."""
        return canonical_json(self.canonical)

    @property
    def tuning(self) -> str | None:
        """The hash of the tuning run that this run needs, if any."""
        return self.fields.get("tuning")

    def at(self, stage: Mapping[str, Any]) -> "RunSpec":
        """The same run with its seeds, and with where its step sizes come from."""
        # there is one way to select, so far
        identity = {key: value for key, value in stage.items() if key != "selection"}
        return RunSpec({**self.fields, **stage}, {**self.canonical, **identity})

    def measuring(self, members: str, parts: Sequence[Mapping[str, Component]]) -> "RunSpec":
        """The same run, which measures these side by side, as `member` gives them."""
        fields, canonical = (
            [{kind: part[form] for kind, part in one.items()} for one in parts] for form in (0, 1)
        )
        return RunSpec({**self.fields, members: fields}, {**self.canonical, members: canonical})


def resolve_run(raw: Mapping[str, Any], where: str = "spec") -> RunSpec:
    """Validates a run spec and brings it into canonical form.

    Raises:
        CatalogueError: Names the field and what is allowed.
    """
    if not isinstance(raw, Mapping):
        raise CatalogueError(where, f"must be a mapping, not {shown(raw)}")
    program = _require(raw, "program", where)
    entry = lookup("program", program, f"{where}.program")
    stage = _stage_fields(raw, entry, where)
    members = (entry.members,) if entry.members else ()
    allowed = {"program", "semantics", *entry.components, *entry.fields, *stage, *members}
    for key in raw:
        if key not in allowed:
            raise CatalogueError(f"{where}.{key}", not_among(key, sorted(allowed), "field"))
    own = {key: raw[key] for key in raw if key in (*entry.fields, "semantics")}
    components = {
        kind: resolve_component(kind, raw.get(kind), f"{where}.{kind}") for kind in entry.components
    }
    run = assemble(program, own, components, where)
    if members:
        run = run.measuring(entry.members, _members(raw, entry, run.fields, where))
    return run.at(stage)


def assemble(
    program: str, own: Mapping[str, Any], components: Mapping[str, Component], where: str
) -> RunSpec:
    """A run but for its stage and its members, of its own fields and its components.

    Raises:
        CatalogueError: A field is not valid, or the components do not fit each other.
    """
    entry = lookup("program", program, f"{where}.program")
    check_semantics(entry.semantics, own, where)
    resolved = entry.resolve({k: v for k, v in own.items() if k != "semantics"}, where)
    fields = {"program": program, **resolved}
    canonical = {"program": program, **entry.canonical(resolved)}
    for kind, part in components.items():
        fields[kind], canonical[kind] = part
    check_fit(entry, fields, where)
    if "credit" in fields:
        fields["credit"] = with_window(fields["credit"], fields["steps"], f"{where}.credit")
    return RunSpec(fields, canonical)


def member(
    entry: ProgramEntry, run: Mapping[str, Any], parts: Mapping[str, Component], where: str
) -> dict[str, Component]:
    """What a run measures, of its components.

    Raises:
        CatalogueError: They do not fit each other.
    """
    fields = {kind: part.fields for kind, part in parts.items()}
    check_fit(entry, {key: run[key] for key in ("program", "fidelity")} | fields, where)
    if "credit" not in parts:
        return dict(parts)
    credit = with_window(parts["credit"].fields, run["steps"], f"{where}.credit")
    return {**parts, "credit": parts["credit"]._replace(fields=credit)}


def _require(raw: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in raw:
        raise CatalogueError(f"{where}.{key}", "is missing")
    return raw[key]


def resolve_component(kind: str, raw: Any, where: str) -> Component:
    """A component of a spec.

    Raises:
        CatalogueError: Names the field and what is allowed.
    """
    return with_canonical(kind, component(kind, raw, where), raw, where)


def with_canonical(kind: str, fields: dict[str, Any], raw: Any, where: str) -> Component:
    """A resolved component with its canonical form.

    Raises:
        CatalogueError: What stands in the spec, `raw`, asks for another version of it.
    """
    entry = lookup(kind, fields["name"], f"{where}.name")
    if isinstance(raw, Mapping):
        check_semantics(entry.semantics, raw, where)
    own = {key: value for key, value in fields.items() if key != "name"}
    return Component(fields, {"name": fields["name"], **entry.canonical(own)})


def _members(
    raw: Mapping[str, Any], entry: ProgramEntry, run: Mapping[str, Any], where: str
) -> list[dict[str, Component]]:
    """What a run measures side by side: a list, each with components of its own."""
    values = _require(raw, entry.members, where)
    where = f"{where}.{entry.members}"
    if not isinstance(values, list) or not values:
        raise CatalogueError(where, f"must be a list with at least one entry, not {shown(values)}")
    members = []
    for index, value in enumerate(values):
        place = f"{where}[{index}]"
        if not isinstance(value, Mapping) or set(value) != set(entry.member_parts):
            raise CatalogueError(place, f"must have {' and '.join(entry.member_parts)}")
        parts = {
            kind: resolve_component(kind, value[kind], f"{place}.{kind}")
            for kind in entry.member_parts
        }
        members.append(member(entry, run, parts, place))
    return members


def check_semantics(current: int, values: Mapping[str, Any], where: str) -> None:
    """Raises a CatalogueError if the values ask for another version than the `current` one."""
    asked = values.get("semantics", current)
    if asked != current:
        raise CatalogueError(
            f"{where}.semantics", f"this version computes semantics {current}, not {shown(asked)}"
        )


def _stage_fields(raw: Mapping[str, Any], entry: ProgramEntry, where: str) -> dict[str, Any]:
    """Seeds, and where the step sizes come from."""
    seeds = number_list(_require(raw, "seeds", where), _SEED, f"{where}.seeds")
    if not entry.tuned:
        return {"seeds": seeds}
    if "tuning" in raw:
        tuning = raw["tuning"]
        if not isinstance(tuning, str) or not re.fullmatch("[0-9a-f]{16}", tuning):
            raise CatalogueError(
                f"{where}.tuning", f"must be a run's 16 hex digits, not {shown(tuning)}"
            )
        rule = entry.objective.rule
        selection = raw.get("selection", rule)
        if selection != rule:
            raise CatalogueError(f"{where}.selection", not_among(selection, [rule]))
        return {"tuning": tuning, "selection": selection, "seeds": seeds}
    sizes = _require(raw, "step_sizes", where)
    return {"step_sizes": number_list(sizes, STEP_SIZE, f"{where}.step_sizes"), "seeds": seeds}


def number_list(values: Any, field: Field, where: str) -> list:
    """A list of numbers, each coerced and checked, none twice.

    Raises:
        CatalogueError: It is no list, is empty, repeats a number, or has one that is not allowed.
    """
    if not isinstance(values, list | tuple) or not values:
        raise CatalogueError(where, f"must be a list with at least one number, not {shown(values)}")
    numbers = [field.coerce(value, f"{where}[{index}]") for index, value in enumerate(values)]
    if len(set(numbers)) < len(numbers):
        raise CatalogueError(where, f"names a number twice: {numbers}")
    return numbers


def seed_block(first: int, block: int) -> list[int]:
    """The seeds of block number `block`, counted from the seed `first`."""
    start = first + block * SEEDS_PER_BLOCK
    return list(range(start, start + SEEDS_PER_BLOCK))
