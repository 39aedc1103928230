"""From a run's fields to the objects that its program composes."""

from collections.abc import Mapping
from typing import Any

import jax

from untruncated.catalogue import lookup
from untruncated.catalogue.estimator_traits import Sizes
from untruncated.cells.protocol import Cell
from untruncated.estimators.online import OnlineGradient
from untruncated.estimators.unrolled import UnrollEstimator, split_state
from untruncated.problems.protocol import Problem


def build_environment(fields: Mapping[str, Any]) -> Any:
    """The environment of a resolved spec."""
    location, values = _split("environment", fields)
    return location(**values)


def build_cell(fields: Mapping[str, Any], environment: Any) -> tuple[Cell, OnlineGradient]:
    """The cell, for the environment's observations, and how its gradient crosses time."""
    location, values = _split("cell", fields)
    if lookup("cell", fields["cell"]["name"], "cell").reference is not None:
        values["fidelity"] = fields["fidelity"]
    cell = location(inputs=environment.observation_size, **values)
    credit, values = _split("credit", fields)
    return cell, credit(cell, **values)


def build_predictor(fields: Mapping[str, Any], environment: Any) -> Any:
    """The learner, with its cell and gradient."""
    location, values = _split("learner", fields)
    return location(*build_cell(fields, environment), **values)


def build_parts(fields: Mapping[str, Any], kinds: tuple[str, ...]) -> list[Any]:
    """The problem, estimator or optimiser of a resolved spec."""
    parts = []
    for kind in kinds:
        values = dict(fields[kind])
        entry = lookup(kind, values.pop("name"), kind)
        if kind == "estimator" and entry.has_reference:
            values["fidelity"] = fields["fidelity"]
        parts.append(entry.load()(**values))
    return parts


def sizes(problem: Problem, estimator: UnrollEstimator, particles: int) -> Sizes:
    """What the formulas of the PES paper's Table 1 are about; a horizon of 0 never ends.

    A state's data, such as whole numbers, is not counted among its numbers.
    """
    key = jax.random.key(0)
    state, theta = (
        jax.eval_shape(draw, key) for draw in (problem.initial_state, problem.initial_theta)
    )
    state, parameters = (
        sum(leaf.size for leaf in jax.tree.leaves(part)) for part in (split_state(state)[0], theta)
    )
    return Sizes(
        horizon=problem.horizon or 0,
        truncation=estimator.inner_steps(problem),
        particles=particles,
        state=state,
        parameters=parameters,
    )


def _split(kind: str, fields: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    values = dict(fields[kind])
    return lookup(kind, values.pop("name"), kind).load(), values
