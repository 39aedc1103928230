"""Whether an estimator's mean is the gradient of the whole inner problem."""

from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.estimators.unrolled.backpropagation import UnrolledBPTT
from untruncated.estimators.unrolled.protocol import UnrollEstimator
from untruncated.problems.protocol import Problem

# A true estimator fails so often, over all numbers of θ together.
FALSE_ALARMS = 1e-3
SIDE_BY_SIDE = 100
ROUNDING = 1e-9


@dataclass(frozen=True)
class QuadraticProblem:
    """s' = A s + B θ from zeros with two numbers of θ, loss (½ s'·s' + c·s') (1 + t/10).

    The loss is quadratic in θ, so that smoothing it changes no gradient, and nothing is drawn.
    """

    horizon: int = 6
    unroll_loss: str = "sum"
    differentiable: ClassVar[bool] = True

    def initial_theta(self, key: PRNGKeyArray) -> Float[Array, "2"]:
        return jax.random.normal(key, (2,))

    def initial_state(self, key: PRNGKeyArray) -> Float[Array, "3"]:
        del key
        return jnp.zeros(3)

    def unroll_step(
        self,
        theta: Float[Array, "2"],
        state: Float[Array, "3"],
        t: Int[Array, ""],
        key: PRNGKeyArray,
    ) -> tuple[Float[Array, "3"], Float[Array, ""]]:
        del key
        recurrent = jnp.array([[0.5, 0.3, 0.0], [-0.2, 0.4, 0.3], [0.1, 0.0, -0.6]])
        inward = jnp.array([[1.0, 0.3], [-0.5, 0.8], [0.2, -1.1]])
        state = recurrent @ state + inward @ theta
        loss = 0.5 * state @ state + jnp.array([0.7, -0.4, 1.2]) @ state
        return state, loss * (1.0 + 0.1 * t)


def assert_estimator_unbiased(
    estimator: UnrollEstimator,
    problem: Problem | None = None,
    *,
    key: PRNGKeyArray | None = None,
    inner_problems: int = 4_000,
) -> None:
    """Checks the mean of an estimator over many inner problems against the gradient by autodiff.

    θ is held fixed. The estimates of the calls that make up an inner problem are added up; each
    such sum is one of the whole gradient. Their mean must lie within so many of its standard errors
    of the gradient that an unbiased estimator fails once in a thousand keys. All is computed in
    float64.

    Args:
        estimator: The estimator. Where it smooths the loss, the problem must be linear or quadratic
            in θ, as the one that is taken by default.
        problem: A problem that draws nothing but θ from its keys, and ends after a multiple of the
            steps of a call; by default one with 6 steps.
        key: Draws θ and the estimator's perturbations; by default `jax.random.key(0)`.
        inner_problems: How many, rounded up to a multiple of 100.

    Raises:
        AssertionError: The mean is something else; the message names the number of θ, both values
            and the standard error. Or the estimates scatter so much that a wrong mean could go
            unseen: then `inner_problems` must be larger.
        ValueError: The problem never ends, or not where a call does.
    """
    with jax.enable_x64(True):
        problem = QuadraticProblem() if problem is None else problem
        steps = estimator.inner_steps(problem)
        if problem.horizon is None or problem.horizon % steps:
            raise ValueError(
                f"the problem must end after a multiple of the {steps} steps of a call, not after "
                f"{problem.horizon}"
            )
        key = jax.random.key(0) if key is None else key
        draw, calls = jax.random.split(key)
        theta = problem.initial_theta(draw)
        truth = np.asarray(_gradient(problem, theta, key))
        estimates = np.asarray(_sums(estimator, problem, theta, calls, inner_problems))
    error = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    scale = np.abs(truth).max()
    allowed = NormalDist().inv_cdf(1 - FALSE_ALARMS / (2 * truth.size)) * error + ROUNDING * scale
    difference = estimates.mean(axis=0) - truth
    index = int(np.nan_to_num(np.abs(difference) / allowed, nan=np.inf).argmax())
    if not abs(difference[index]) <= allowed[index]:
        raise AssertionError(
            f"{estimator} is biased: number {index} of θ has a gradient of {truth[index]:.6g}, and "
            f"the mean of the estimates of {len(estimates)} inner problems is "
            f"{truth[index] + difference[index]:.6g}, off by {difference[index]:.3g}, with a "
            f"standard error of {error[index]:.3g}"
        )
    assert (allowed < 0.25 * scale).all(), (
        f"the estimates of {estimator} scatter too much for {len(estimates)} inner problems to "
        f"tell a wrong mean: standard errors are up to {error.max():.3g}, where the gradient is "
        f"{scale:.3g} at most. Ask for more inner_problems, or give the estimator more particles"
    )


# What runs once is quicker to compile than to run.
_quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@partial(_quick, static_argnums=0)
def _gradient(problem: Problem, theta: Any, key: PRNGKeyArray) -> Float[Array, " parameters"]:
    exact = UnrolledBPTT()
    gradient, _ = exact.step(problem, theta, exact.init(problem, theta, key), jax.random.clone(key))
    return ravel_pytree(gradient)[0]


@partial(_quick, static_argnums=(0, 1, 4))
def _sums(
    estimator: UnrollEstimator, problem: Problem, theta: Any, key: PRNGKeyArray, inner_problems: int
) -> Float[Array, "inner_problems parameters"]:
    """The sum of the estimates in each inner problem: many side by side, several in a row."""
    rows = -(-inner_problems // SIDE_BY_SIDE)
    calls = problem.horizon // estimator.inner_steps(problem)

    def in_a_row(key: PRNGKeyArray) -> Float[Array, "rows parameters"]:
        start, key = jax.random.split(key)

        def call(state: Any, key: PRNGKeyArray) -> tuple[Any, Array]:
            gradient, state = estimator.step(problem, theta, state, key)
            return state, ravel_pytree(gradient)[0]

        state = estimator.init(problem, theta, start)
        _, gradients = jax.lax.scan(call, state, jax.random.split(key, rows * calls))
        return gradients.reshape(rows, calls, -1).sum(axis=1)

    sums = jax.vmap(in_a_row)(jax.random.split(key, SIDE_BY_SIDE))
    return sums.reshape(-1, sums.shape[-1])
