"""From a curve of an experiment file to its configurations and their runs."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from untruncated.catalogue import PROGRAMS, CatalogueError, lookup
from untruncated.catalogue.entry import Field, not_among, shown
from untruncated.catalogue.programs import ProgramEntry
from untruncated.experiments.figures import Point
from untruncated.experiments.spec import RunSpec, resolve_run, seed_block
from untruncated.experiments.texts import figure_text
from untruncated.experiments.widths import component, flops, parameters, resolve_width, with_window
from untruncated.results.result_files import canonical_json

# What a run may say besides its steps, seeds and step sizes. Files say it for a whole figure, a
# scale, a panel or a curve; the nearest counts.
RUN_KEYS = tuple(
    dict.fromkeys(
        ["program"]
        + [kind for entry in PROGRAMS.values() for kind in entry.components]
        + [name for entry in PROGRAMS.values() for name in entry.fields if name != "steps"]
        + ["step_sizes"]
    )
)
CURVE_KEYS = ("label", "sweep", *RUN_KEYS)


@dataclass(frozen=True)
class Scale:
    """The numbers of one scale; None where the file does not give one."""

    name: str
    steps: int | None = None
    particle_steps: int | None = None
    step_sizes: list[float] | None = None
    final_blocks: int | None = None
    lists: Mapping[str, list] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    panels: list[str] | None = None
    least_iterations: int = 1
    acknowledged_edges: Mapping[str, str] = field(default_factory=dict)
    ten_tuning_seeds: Sequence[str] = ()

    def need(self, name: str) -> Any:
        """One of the numbers.

        Raises:
            CatalogueError: The file does not give it.
        """
        value = getattr(self, name)
        if value is None:
            raise CatalogueError(f"scales.{self.name}.{name}", "is missing")
        return value


@dataclass(frozen=True)
class Setting:
    """What holds for a panel's curves: the run's fields so far, scale, first seeds, plot stages.

    `common` are the fields of the whole figure, from which a configuration's name tells how it
    differs.
    """

    run: Mapping[str, Any]
    common: Mapping[str, Any]
    scale: Scale
    seeds: Mapping[str, int] | None
    stages: tuple[str, ...]

    def within(self, fields: Mapping[str, Any]) -> "Setting":
        """The same with the run's fields in `fields` in place of those so far.

        Where they name another program, it inherits what it takes.
        """
        own = {key: value for key, value in fields.items() if key in RUN_KEYS}
        inherited = self.run
        if "program" in own and own["program"] != self.run.get("program"):
            program = lookup("program", own["program"], "program")
            taken = {*program.parts, *program.fields}
            inherited = {key: value for key, value in self.run.items() if key in taken}
        return replace(self, run={**inherited, **own})

    @property
    def program(self) -> ProgramEntry:
        """The program that the curves run."""
        if "program" not in self.run:
            raise CatalogueError("shared.program", "is missing")
        return lookup("program", self.run["program"], "shared.program")

    def first_seed(self, stage: str) -> int:
        """The first seed of a stage."""
        if self.seeds is None:
            raise CatalogueError("seeds", "is missing")
        return self.seeds[stage]

    def final_seeds(self, program: ProgramEntry) -> list[list[int]]:
        """The final stage's blocks of seeds; one seed of a program that is not random."""
        first = self.first_seed("final")
        if not program.random:
            return [[first]]
        return [seed_block(first, block) for block in range(self.scale.need("final_blocks"))]


def curve_points(curve: str, raw: Mapping[str, Any], where: str, setting: Setting) -> list[Point]:
    """The configurations of a curve, one for each combination of its sweep's values.

    Raises:
        CatalogueError: Names the field and what is allowed.
    """
    setting = setting.within(raw)
    label = Field(str).coerce(raw.get("label", curve), f"{where}.label")
    points = [
        _point(curve, label, sweep, where, setting) for sweep in _sweep(raw, where, setting.scale)
    ]
    text = figure_text(label, points, f"{where}.label", in_legend=True)
    return [replace(point, label=text) for point in points]


def _sweep(raw: Mapping[str, Any], where: str, scale: Scale) -> Iterator[dict[str, Any]]:
    sweep = raw.get("sweep", {})
    if not isinstance(sweep, Mapping):
        raise CatalogueError(f"{where}.sweep", f"must be a mapping, not {shown(sweep)}")
    for variable, name in sweep.items():
        if not isinstance(name, str) or name not in scale.lists:
            raise CatalogueError(f"{where}.sweep.{variable}", not_among(name, scale.lists))
    for values in itertools.product(*(scale.lists[name] for name in sweep.values())):
        yield dict(zip(sweep, values, strict=True))


def _point(curve: str, label: str, sweep: dict[str, Any], where: str, setting: Setting) -> Point:
    program = setting.program
    spec: dict[str, Any] = {
        key: _substitute(value, sweep, f"{where}.{key}") for key, value in setting.run.items()
    }
    if "steps" in program.fields:
        spec["steps"] = _steps(spec, setting.scale, where)
    costs = {}
    if "cell" in program.parts:
        inputs = _inputs(spec)
        spec["credit"] = component("credit", spec.get("credit"), f"{where}.credit")
        credit = with_window(spec["credit"], spec["steps"], f"{where}.credit")
        spec["cell"] = resolve_width(spec.get("cell"), credit, inputs, f"{where}.cell")
        costs = {
            "flops": flops(spec["cell"], credit, inputs),
            "parameters": parameters(spec["cell"], inputs),
        }
    for kind in program.member_parts:
        spec[kind] = component(kind, spec.get(kind), f"{where}.{kind}")
    tuning, finals = _runs(spec, where, setting)
    fields = spec if program.members else (tuning or finals[0]).fields
    configuration = _describe(fields, setting, sweep)
    if tuning and configuration in setting.scale.ten_tuning_seeds:
        tuning, finals = _runs(spec, where, setting, tuning_blocks=2)
        fields = tuning.fields
    return Point(
        curve=curve,
        label=label,
        configuration=configuration,
        fields=fields,
        sweep=sweep,
        costs=costs,
        tuning=tuning,
        finals=finals if "final" in setting.stages else [],
    )


def _steps(spec: Mapping[str, Any], scale: Scale, where: str) -> int:
    """The scale's steps, or as many tens of iterations as its budget of particle steps allows.

    An iteration costs particles × truncation of them, or particles × horizon if it unrolls whole
    inner problems, and a step without an estimator one. At least ten iterations are made, and at
    least the scale's `least_iterations`.
    """
    if scale.particle_steps is None:
        return scale.need("steps")
    if "estimator" not in spec:
        return 10 * max(1, scale.particle_steps // 10)
    estimator = component("estimator", spec.get("estimator"), f"{where}.estimator")
    unrolled = estimator.get("truncation", 1)
    if lookup("estimator", estimator["name"], f"{where}.estimator").whole:
        problem = component("problem", spec.get("problem"), f"{where}.problem")
        # inner problems that never end are refused where the run is resolved
        entry = lookup("problem", problem["name"], f"{where}.problem")
        unrolled = entry.declared("horizon", problem) or 1
    each = estimator.get("particles", 1) * unrolled
    least = -(-scale.least_iterations // 10)
    return 10 * max(least, scale.particle_steps // (10 * each))


def _runs(
    spec: Mapping[str, Any], where: str, setting: Setting, tuning_blocks: int = 1
) -> tuple[RunSpec | None, list[RunSpec]]:
    """The tuning run, where there is something to tune, and the final runs that need it.

    One agent of several that are measured side by side gets a run of its own: see `gather`.
    """
    program = setting.program
    if program.members:
        agent = {kind: spec[kind] for kind in program.member_parts}
        others = {key: value for key, value in spec.items() if key not in agent}
        seeds = [setting.first_seed("final")]
        return None, [resolve_run({**others, program.members: [agent], "seeds": seeds}, where)]
    if not program.tuned or (program.tuning_optional and "step_sizes" in spec):
        blocks = setting.final_seeds(program)
        return None, [resolve_run({**spec, "seeds": block}, where) for block in blocks]
    if "step_sizes" in spec:
        raise CatalogueError(
            f"{where}.step_sizes", "all curves are tuned on the scale's grid: leave it out"
        )
    first = setting.first_seed("tuning")
    seeds = [seed for block in range(tuning_blocks) for seed in seed_block(first, block)]
    sizes = setting.scale.need("step_sizes")
    tuning = resolve_run({**spec, "step_sizes": sizes, "seeds": seeds}, where)
    if "final" not in setting.stages:
        return tuning, []
    return tuning, [
        resolve_run({**spec, "tuning": tuning.hash, "seeds": block}, where)
        for block in setting.final_seeds(program)
    ]


def gather(points: list[Point]) -> list[Point]:
    """The points, those of programs that measure several agents side by side with a common run.

    All that differ in their agents alone share one run, in which each agent stands once: times are
    compared within a run.
    """
    parts = [_shared_and_agent(point) for point in points]
    agents: dict[str, list[dict[str, Any]]] = {}
    for shared, agent in filter(None, parts):
        mine = agents.setdefault(shared, [])
        if agent not in mine:
            mine.append(agent)
    runs = {}
    for shared, mine in agents.items():
        fields = json.loads(shared)
        runs[shared] = resolve_run({**fields, PROGRAMS[fields["program"]].members: mine})
    return [
        replace(point, finals=[runs[part[0]]], agent=agents[part[0]].index(part[1]))
        if part
        else point
        for point, part in zip(points, parts, strict=True)
    ]


def _shared_and_agent(point: Point) -> tuple[str, dict[str, Any]] | None:
    """The fields of a run of one agent but the agent, as JSON, and the agent; None for others."""
    members = PROGRAMS[point.fields["program"]].members
    if not members or not point.finals:
        return None
    fields = dict(point.finals[0].fields)
    (agent,) = fields.pop(members)
    return canonical_json(fields), agent


def _inputs(spec: Mapping[str, Any]) -> int:
    where = "shared.environment"
    environment = component("environment", spec.get("environment"), where)
    entry = lookup("environment", environment["name"], where)
    return entry.declared("observation_size", environment)


def _substitute(value: Any, sweep: Mapping[str, Any], where: str) -> Any:
    """Replaces "$name" by the sweep variable of that name, at any depth."""
    if isinstance(value, Mapping):
        return {key: _substitute(item, sweep, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, str) and value.startswith("$"):
        if value[1:] not in sweep:
            raise CatalogueError(where, f"no sweep variable {value}. {not_among(value[1:], sweep)}")
        return sweep[value[1:]]
    return value


def _describe(fields: Mapping[str, Any], setting: Setting, sweep: Mapping[str, Any]) -> str:
    """A configuration in a few words, e.g. "gru of width 8, truncated_bptt 45".

    Then come the fields of its cell that are not their defaults, and all in which the run differs
    from what the figure says for all runs, a swept field among them.
    """
    words = []
    for kind in sorted(setting.program.parts, key=lambda kind: kind not in ("cell", "credit")):
        given = fields[kind]
        if kind == "cell":
            words.append(f"{given['name']} of width {given['width']}")
            words += _unusual("cell", given, leave_out=("name", "width"))
        elif kind == "credit" or kind not in setting.common:
            values = [str(value) for key, value in given.items() if key != "name"]
            words.append(" ".join([given["name"], *values]))
        else:
            words += _differences(given, _common(kind, setting.common[kind], sweep))
    for name in setting.program.fields:
        common = setting.common.get(name, setting.program.fields[name].default)
        if name != "steps" and name in fields and fields[name] != common:
            words.append(f"{name} {fields[name]}")
    return ", ".join(words)


def _unusual(kind: str, given: Mapping[str, Any], leave_out: tuple[str, ...]) -> list[str]:
    fields = lookup(kind, given["name"], kind).fields
    return [
        f"{key} {value}"
        for key, value in given.items()
        if key not in leave_out and value != fields[key].default
    ]


def _common(kind: str, raw: Any, sweep: Mapping[str, Any]) -> dict[str, Any]:
    """A figure's component with all its fields; None for those that are swept."""
    fields = component(kind, _substitute(raw, sweep, kind), kind)
    named = raw.items() if isinstance(raw, Mapping) else ()
    return fields | {key: None for key, value in named if str(value).startswith("$")}


def _differences(given: Mapping[str, Any], common: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} {value}" if key != "name" else str(value)
        for key, value in given.items()
        if common.get(key) != value
    ]
