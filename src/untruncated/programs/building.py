"""From a run's fields to the objects that its program composes."""

from collections.abc import Mapping
from typing import Any

import jax

from untruncated.agents.protocol import OnlineLearner
from untruncated.catalogue import Sizes, is_strangers, lookup
from untruncated.cells.padding import Padded, padded_width
from untruncated.cells.protocol import Cell
from untruncated.estimators.online.protocol import OnlineGradient
from untruncated.estimators.unrolled.protocol import UnrollEstimator, split_state
from untruncated.problems.protocol import Problem
from untruncated.programs.strangers import (
    check_cell,
    check_environment,
    check_estimator,
    check_problem,
)
from untruncated.programs.streams import Stepwise


def build_environment(fields: Mapping[str, Any]) -> Any:
    """The environment of a resolved spec, with `start` and `unroll` if it lacks them.

    Raises:
        ValueError: A stranger's environment is not what its catalogue entry says.
    """
    environment = _made("environment", fields["environment"])
    if is_strangers(fields["environment"]["name"]):
        check_environment(fields["environment"], environment)
    streams = hasattr(environment, "start") and hasattr(environment, "unroll")
    return environment if streams else Stepwise(environment)


def build_cell(
    fields: Mapping[str, Any], environment: Any, padded: bool = False
) -> tuple[Cell, OnlineGradient]:
    """The cell, for the environment's observations, and how its gradient crosses time.

    It may be `padded` if its units do not mix and learn by traces: see `cells.padding`.

    Raises:
        ValueError: A stranger's cell is not what its catalogue entry says.
    """
    given, more = fields["cell"], {"inputs": environment.observation_size}
    entry = lookup("cell", given["name"], "cell")
    if entry.reference is not None:
        more["fidelity"] = fields["fidelity"]
    cell = _made("cell", given, more)
    if is_strangers(given["name"]):
        check_cell(given, cell)
    values, width = dict(fields["credit"]), padded_width(given["width"])
    if padded and entry.separate_units and values["name"] == "rtrl" and width > given["width"]:
        cell = Padded(cell, _made("cell", {**given, "width": width}, more))
    return cell, lookup("credit", values.pop("name"), "credit").load()(cell, **values)


def build_predictor(
    fields: Mapping[str, Any], environment: Any, padded: bool = True
) -> OnlineLearner:
    """The learner, with its cell, padded where that makes it faster, and gradient."""
    values = dict(fields["learner"])
    learner = lookup("learner", values.pop("name"), "learner").load()
    return learner(*build_cell(fields, environment, padded), **values)


def step_operations(fields: Mapping[str, Any], environment: Any) -> float:
    """Operations of the cell and its gradient at one input, by the cell's catalogue entry."""
    cell = fields["cell"]
    entry = lookup("cell", cell["name"], "cell")
    return float(entry.declared("flops", cell, environment.observation_size, fields["credit"]))


def build_parts(fields: Mapping[str, Any], kinds: tuple[str, ...]) -> list[Any]:
    """The problem, estimator or optimiser of a resolved spec.

    Raises:
        ValueError: A stranger's part is not what its catalogue entry says, or cannot be made of its
            fields.
    """
    parts = {}
    for kind in kinds:
        entry = lookup(kind, fields[kind]["name"], kind)
        takes_fidelity = kind == "estimator" and entry.has_reference
        more = {"fidelity": fields["fidelity"]} if takes_fidelity else {}
        parts[kind] = _made(kind, fields[kind], more)
    if "problem" in parts and is_strangers(fields["problem"]["name"]):
        check_problem(fields["problem"], parts["problem"])
    if "estimator" in parts and is_strangers(fields["estimator"]["name"]):
        check_estimator(fields["estimator"], parts["estimator"], parts["problem"])
    return list(parts.values())


def costs(
    given: Mapping[str, Any], problem: Problem, estimator: UnrollEstimator, particles: int
) -> dict[str, float]:
    """Operations of one gradient and numbers held in memory, by the estimator's catalogue entry.

    Raises:
        CatalogueError: A stranger's entry does not say.
    """
    entry, of = (
        lookup("estimator", given["name"], "estimator"),
        sizes(problem, estimator, particles),
    )
    return {name: entry.declared(name, of) for name in ("operations", "numbers")}


def sizes(problem: Problem, estimator: UnrollEstimator, particles: int) -> Sizes:
    """What the formulas of the PES paper's Table 1 are about; a horizon of 0 never ends.

    A state's data, such as whole numbers, is not counted among its numbers.
    """
    key = jax.random.key(0)
    state, theta = (
        jax.eval_shape(draw, key) for draw in (problem.initial_state, problem.initial_theta)
    )
    return Sizes(
        horizon=problem.horizon or 0,
        truncation=estimator.inner_steps(problem),
        particles=particles,
        state=_count(split_state(state)[0]),
        parameters=_count(theta),
    )


def _count(tree: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


def _made(kind: str, given: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> Any:
    """A component of its resolved fields and of what else it takes."""
    values = {key: value for key, value in given.items() if key != "name"} | dict(more or {})
    location = lookup(kind, given["name"], kind).load()
    if not is_strangers(given["name"]):
        return location(**values)
    try:
        component = location(**values)
        hash(component)  # compiled functions are told apart by it
    except Exception as error:  # a stranger's may fail in any way
        raise ValueError(
            f"{kind} {given['name']!r} cannot be made of {values}, or has no hash, as a frozen "
            f"dataclass has: {type(error).__name__}: {error}"
        ) from error
    return component
