"""From a curve of an experiment file to its configurations."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from untruncated.catalogue import CatalogueError, lookup
from untruncated.catalogue.entry import not_among
from untruncated.catalogue.programs import ProgramEntry
from untruncated.experiments.describing import describe
from untruncated.experiments.experiment_files import Curve
from untruncated.experiments.said import SPEC, Run, Said, told_where_said
from untruncated.experiments.scales import Scale
from untruncated.experiments.spec import Component, RunSpec, assemble, member
from untruncated.experiments.texts import figure_text
from untruncated.experiments.widths import flops, parameters, with_window


@dataclass(frozen=True, eq=False)
class Setting:
    """What holds for the curves of a panel: what their runs say so far, and the scale.

    `common` is what the whole figure says, from which a configuration's name tells how it differs.
    """

    run: Run
    common: Run
    scale: Scale

    def within(self, run: Run) -> "Setting":
        """The same with what is said nearer by in place of what was said so far.

        Where that names another program, it inherits what the program takes.
        """
        inherited, said, before = self.run, run.get("program"), self.run.get("program")
        if said is not None and (before is None or said.value != before.value):
            program = lookup("program", said.value, said.where)
            taken = {*program.parts, *program.fields}
            inherited = {key: value for key, value in self.run.items() if key in taken}
        return replace(self, run={**inherited, **run})

    @property
    def program(self) -> ProgramEntry:
        """The program that the curves run."""
        if "program" not in self.run:
            raise CatalogueError("shared.program", "is missing")
        said = self.run["program"]
        return lookup("program", said.value, said.where)


@dataclass(frozen=True, eq=False)
class Configuration:
    """One configuration of a curve, with its run but for the stage.

    `sweep` are its values of what the curve sweeps over, `costs` what a step of its cell costs. A
    program that measures several things side by side has the `agent` that this is; a curve that
    gives its step sizes, `step_sizes`. `name` says in a few words what it is.
    """

    curve: str
    label: str
    name: str
    program: ProgramEntry
    run: RunSpec
    sweep: dict[str, int | float]
    costs: dict[str, int]
    agent: dict[str, Component] | None
    step_sizes: Said | None
    where: str

    @property
    def identity(self) -> str:
        """What all configurations of the same runs share, in whatever panel they stand."""
        return self.run.json

    @property
    def fields(self) -> dict[str, Any]:
        """All fields of its run and of its agent."""
        agent = {kind: part.fields for kind, part in (self.agent or {}).items()}
        return {**self.run.fields, **agent}

    @property
    def is_tuned(self) -> bool:
        """Whether there is a step size to choose."""
        optional = self.program.tuning_optional and self.step_sizes is not None
        return self.program.tuned and not optional


def curve_configurations(curve: Curve, setting: Setting) -> list[Configuration]:
    """The configurations of a curve, one for each combination of its sweep's values.

    Raises:
        CatalogueError: Names the field by its place, and what is allowed.
    """
    setting = setting.within(curve.run)
    found = [_configuration(curve, sweep, setting) for sweep in _sweep(curve, setting.scale)]
    label = figure_text(curve.label, found, f"{curve.where}.label", in_legend=True)
    return [replace(one, label=label) for one in found]


def _sweep(curve: Curve, scale: Scale) -> Iterator[dict[str, Any]]:
    for variable, name in curve.sweep.items():
        if not isinstance(name, str) or name not in scale.lists:
            where = f"{curve.where}.sweep.{variable}"
            raise CatalogueError(where, not_among(name, scale.lists))
    for values in itertools.product(*(scale.lists[name] for name in curve.sweep.values())):
        yield dict(zip(curve.sweep, values, strict=True))


def _configuration(curve: Curve, sweep: dict[str, Any], setting: Setting) -> Configuration:
    program, run, where = setting.program, setting.run, curve.where
    check_keys(run, program, where)
    parts = {
        kind: run[kind].component(kind, sweep)
        for kind in program.parts
        if not (kind == "cell" and run[kind].has_budget)
    }
    if "steps" in program.fields:
        run = {**run, "steps": _steps(parts, setting.scale)}
    costs = {}
    with told_where_said(run, where):
        if "cell" in program.parts:
            parts["cell"], costs = _cell(run, program, parts, sweep)
        spec = assembled(run, program, parts, sweep)
        agent = None
        if program.members:
            measured = {kind: parts[kind] for kind in program.member_parts}
            agent = member(program, spec.fields, measured, SPEC)
    found = Configuration(
        curve=curve.name,
        label=curve.label,
        name="",
        program=program,
        run=spec,
        sweep=sweep,
        costs=costs,
        agent=agent,
        step_sizes=run.get("step_sizes"),
        where=where,
    )
    return replace(found, name=describe(found.fields, program, setting.common))


def assembled(
    run: Run, program: ProgramEntry, parts: Mapping[str, Component], sweep: Mapping[str, Any]
) -> RunSpec:
    """The run but for its stage and its members, from its components.

    Raises:
        CatalogueError: Names the field `spec.x`.
    """
    own = {key: run[key].under(sweep) for key in (*program.fields, "semantics") if key in run}
    components = {kind: parts[kind] for kind in program.components}
    return assemble(run["program"].value, own, components, SPEC)


def check_keys(run: Run, program: ProgramEntry, where: str) -> None:
    """Raises a CatalogueError unless the program takes all that is said, and has its components."""
    allowed = {"program", "semantics", *program.parts, *program.fields}
    if program.tuned:
        allowed.add("step_sizes")
    for key, said in run.items():
        if key not in allowed:
            raise CatalogueError(said.where, not_among(key, sorted(allowed), "field"))
    for kind in program.parts:
        if kind not in run:
            raise CatalogueError(f"{where}.{kind}", "is missing")


def _cell(
    run: Run, program: ProgramEntry, parts: Mapping[str, Component], sweep: Mapping[str, Any]
) -> tuple[Component, dict[str, int]]:
    """The cell, of the width that meets its budget, and what a step costs."""
    environment = parts["environment"].fields
    entry = lookup("environment", environment["name"], f"{SPEC}.environment")
    inputs = program.encoded or entry.declared("observation_size", environment)
    credit = with_window(parts["credit"].fields, run["steps"].value, f"{SPEC}.credit")
    cell = run["cell"].cell(sweep, credit, inputs, run)
    costs = {
        "flops": flops(cell.fields, credit, inputs, f"{SPEC}.credit"),
        "parameters": parameters(cell.fields, inputs),
    }
    return cell, costs


def _steps(parts: Mapping[str, Component], scale: Scale) -> Said:
    """The scale's steps, or as many tens of iterations as its budget of particle steps allows.

    An iteration costs particles × truncation of them, or particles × horizon if it unrolls whole
    inner problems, and a step without an estimator one. At least ten iterations are made, and at
    least the scale's `least_iterations`.
    """
    if scale.particle_steps is None:
        return scale.said("steps")
    each, least = 1, 1
    if "estimator" in parts:
        estimator = parts["estimator"].fields
        unrolled = estimator.get("truncation", 1)
        if lookup("estimator", estimator["name"], "estimator.name").whole:
            problem = parts["problem"].fields
            # inner problems that never end are refused where the run is assembled
            entry = lookup("problem", problem["name"], "problem.name")
            unrolled = entry.declared("horizon", problem) or 1
        each = estimator.get("particles", 1) * unrolled
        least = -(-scale.least_iterations // 10)
    return scale.said("particle_steps", 10 * max(least, scale.particle_steps // (10 * each)))
