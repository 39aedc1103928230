"""Whether a component of somebody's package is what its catalogue entry and its protocol say.

Nothing is computed: shapes tell. Every check raises a ValueError that says what to mend.
"""

from collections.abc import Mapping
from typing import Any

import jax

from untruncated.catalogue import lookup
from untruncated.catalogue.problems import UNROLL_LOSSES
from untruncated.cells.protocol import Cell
from untruncated.estimators.unrolled.protocol import UnrollEstimator
from untruncated.problems.protocol import Problem


def check_environment(given: Mapping[str, Any], environment: Any) -> None:
    """Observations have the declared size."""
    _compare_attributes("environment", given, environment, "observation_size")
    _, shown = jax.eval_shape(environment.reset, jax.random.key(0))
    if shown.observation.shape != (environment.observation_size,):
        raise ValueError(
            f"{given['name']!r} shows observations of shape {shown.observation.shape}, where its "
            f"observation_size is {environment.observation_size}"
        )


def check_cell(given: Mapping[str, Any], cell: Cell) -> None:
    """The cell has the declared number of parameters."""
    params = jax.eval_shape(cell.init, jax.random.key(0))
    found = sum(leaf.size for leaf in jax.tree.leaves(params))
    _compare("cell", given, "parameters", found, cell.inputs)


def check_problem(given: Mapping[str, Any], problem: Problem) -> None:
    """The problem ends where it says, and its steps keep the shapes of its state."""
    _compare_attributes("problem", given, problem, "horizon", "differentiable")
    name = given["name"]
    if getattr(problem, "unroll_loss", None) not in UNROLL_LOSSES:
        allowed = ", ".join(UNROLL_LOSSES)
        raise ValueError(f"{name!r} must have an attribute unroll_loss, one of {allowed}")

    def step(key: Any) -> tuple[Any, tuple[Any, Any]]:
        state = problem.initial_state(key)
        t = jax.numpy.zeros((), jax.numpy.int32)
        return state, problem.unroll_step(problem.initial_theta(key), state, t, key)

    before, (after, loss) = jax.eval_shape(step, jax.random.key(0))
    if _shapes(before) != _shapes(after):
        raise ValueError(
            f"unroll_step of {name!r} makes a state of {_shapes(after)} of one of {_shapes(before)}"
        )
    if loss.shape != ():
        raise ValueError(f"unroll_step of {name!r} has a loss of shape {loss.shape}, not a number")


def check_estimator(given: Mapping[str, Any], estimator: UnrollEstimator, problem: Problem) -> None:
    """Calls take as many steps as the fields say, and give gradients shaped like θ.

    What the estimator itself has against the problem is raised too.
    """
    name, entry = given["name"], lookup("estimator", given["name"], "estimator")
    said = problem.horizon if entry.whole else given.get("truncation", 1)
    found = estimator.inner_steps(problem)
    if found != said:
        raise ValueError(
            f"a call of {name!r} takes the inner problem {found} steps ahead, where its "
            f"catalogue_entry says {said}: declare a field truncation, or whole=True if it unrolls "
            "whole inner problems"
        )

    def call(key: Any) -> tuple[Any, Any]:
        theta = problem.initial_theta(key)
        start = estimator.init(problem, theta, key)
        return theta, estimator.step(problem, theta, start, key)[0]

    theta, gradient = jax.eval_shape(call, jax.random.key(0))
    if _shapes(theta) != _shapes(gradient):
        raise ValueError(
            f"the gradient of {name!r} is of {_shapes(gradient)}, where θ is of {_shapes(theta)}"
        )


def _shapes(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: f"{leaf.dtype}{list(leaf.shape)}", tree)


def _compare_attributes(kind: str, given: Mapping[str, Any], component: Any, *names: str) -> None:
    for name in names:
        if not hasattr(component, name):
            raise ValueError(f"{kind} {given['name']!r} must have an attribute {name}")
        _compare(kind, given, name, getattr(component, name))


def _compare(kind: str, given: Mapping[str, Any], what: str, found: Any, *more: Any) -> None:
    declared = lookup(kind, given["name"], kind).declared(what, given, *more)
    if found != declared:
        raise ValueError(
            f"{kind} {given['name']!r} has {what} {found}, where its catalogue_entry declares "
            f"{what} {declared}: mend the one or the other"
        )
