"""Whether a cell's traces give the gradient that autodiff through time gives."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_leaves_with_path
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from untruncated.cells.protocol import Derived, Features, Parameters, TraceCell
from untruncated.estimators.online.bptt import bptt_gradient
from untruncated.estimators.online.traces import RTRL

# Largest difference allowed, as a share of the largest entry of a parameter's gradient.
TOLERANCES = {"float64": 1e-10, "float32": 1e-3}


class Sequence(NamedTuple):
    """Random inputs, the steps before which the state is reset, and a loss of the features.

    The loss of step t is the sum of `weights[t]` times the features.
    """

    inputs: Float[Array, "steps inputs"]
    resets: Bool[Array, " steps"]
    weights: Features


def assert_rtrl_exact(
    cell: TraceCell,
    *,
    key: PRNGKeyArray | None = None,
    params: Parameters | None = None,
    steps: int = 2_000,
    resets: int = 2,
    precision: str = "float64",
    tolerance: float | None = None,
) -> None:
    """Checks the gradient through a cell's traces against autodiff through time.

    Both are of the same loss on a random sequence: RTRL steps once through it with the traces and
    adds up a gradient at each step, autodiff goes back through all steps to the last reset.

    Args:
        cell: The cell, with the methods of `cells.TraceCell`.
        key: Draws parameters, inputs, losses and the steps at which the state is reset; by default
            `jax.random.key(0)`.
        params: The parameters; by default those of `cell.init`, with small random numbers in place
            of those that start as nothing but zeros, such as a bias.
        steps: Length of the sequence, at least 1.
        resets: How many times the state is reset on the way.
        precision: "float64" or "float32", in which all is computed.
        tolerance: Largest difference allowed, as a share of the largest entry of the parameter's
            gradient; by default 1e-10 in float64 and 1e-3 in float32.

    Raises:
        AssertionError: A gradient differs. The message names the parameter, the step, the largest
            difference and both values. Or a parameter's gradient is zero everywhere, so that
            nothing is checked, or of another precision.
        ValueError: There is no such precision.
    """
    if precision not in TOLERANCES:
        raise ValueError(f"precision must be one of {', '.join(TOLERANCES)}, not {precision!r}")
    tolerance = TOLERANCES[precision] if tolerance is None else tolerance
    with jax.enable_x64(precision == "float64"):
        draw, start = jax.random.split(jax.random.key(0) if key is None else key)
        params = _drawn(cell, start) if params is None else params
        sequence = _sequence(cell, draw, steps, resets)
        online, through_time = _both_gradients(cell, params, sequence)
        for (path, ours), theirs in zip(
            tree_leaves_with_path(online), jax.tree.leaves(through_time), strict=True
        ):
            name = f"the gradient of {cell} with respect to {keystr(path) or 'its parameters'}"
            for dtype in (ours.dtype, theirs.dtype):
                assert dtype == precision, f"{name} is {dtype} under {precision}"
            scale = np.abs(theirs).max()
            assert np.isfinite(scale), f"{name} is not finite by autodiff through time"
            assert scale > 0, f"{name} is zero at every step, so that nothing is checked"
            if not np.abs(ours - theirs).max() <= tolerance * scale:
                raise AssertionError(
                    f"{name} is not that of autodiff through time. "
                    + _where(cell, params, sequence, path, tolerance * scale)
                )


def _drawn(cell: TraceCell, key: PRNGKeyArray) -> Parameters:
    """Initial parameters, and small random ones where all are zero: there much goes unseen."""
    leaves, structure = jax.tree.flatten(cell.init(key))
    keys = jax.random.split(jax.random.fold_in(key, 1), len(leaves))
    return structure.unflatten(
        [
            leaf if leaf.any() else 0.3 * jax.random.normal(key, leaf.shape, leaf.dtype)
            for leaf, key in zip(leaves, keys, strict=True)
        ]
    )


def _sequence(cell: TraceCell, key: PRNGKeyArray, steps: int, resets: int) -> Sequence:
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))  # nothing to compile
    float_type = jnp.result_type(float)
    return Sequence(
        rng.normal(size=(steps, cell.inputs)).astype(float_type),
        np.isin(np.arange(steps), rng.choice(steps, resets, replace=False)),
        tuple(rng.normal(size=(steps, size)).astype(float_type) for size in cell.feature_sizes),
    )


# Compiling takes nearly all the time, and is a third faster at level 0.
_quick = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


@partial(_quick, static_argnums=0)
def _both_gradients(
    cell: TraceCell, params: Parameters, sequence: Sequence
) -> tuple[Parameters, Parameters]:
    """The gradient of the whole sequence's loss by traces, and by autodiff through time."""
    zeros, derived = jax.tree.map(jnp.zeros_like, params), cell.derive(params)

    def step(carry: tuple, xs: Sequence) -> tuple[tuple, None]:
        inside, total = carry
        inside, gradient = _traced(cell, params, derived, inside, xs)
        return (inside, jax.tree.map(jnp.add, total, gradient)), None

    (_, online), _ = jax.lax.scan(step, (RTRL(cell).init(), zeros), sequence)
    return online, _through_time(cell, params, sequence, sequence.weights)


def _traced(
    cell: TraceCell, params: Parameters, derived: Derived, carry: Any, xs: Sequence
) -> tuple[Any, Parameters]:
    """One step of RTRL, and the gradient of its loss."""
    estimator, (x, reset, weight) = RTRL(cell), xs
    fresh = estimator.init()
    carry = jax.tree.map(lambda fresh, old: jnp.where(reset, fresh, old), fresh, carry)
    made = estimator.step(params, derived, carry, x)
    return made.carry, made.pullback(weight)


def _through_time(
    cell: TraceCell, params: Parameters, sequence: Sequence, weights: Features
) -> Parameters:
    def loss(features: Features) -> Float[Array, ""]:
        return sum(jnp.sum(w * f) for w, f in zip(weights, features, strict=True))

    return bptt_gradient(cell, params, sequence.inputs, sequence.resets, loss)


@partial(_quick, static_argnums=0)
def _at_every_step(
    cell: TraceCell, params: Parameters, sequence: Sequence
) -> tuple[Parameters, Parameters]:
    """Both gradients of each step's loss, with a leading axis of steps."""
    derived = cell.derive(params)
    _, online = jax.lax.scan(
        lambda carry, xs: _traced(cell, params, derived, carry, xs), RTRL(cell).init(), sequence
    )
    steps = jnp.arange(sequence.resets.size)

    def of_step(step: Array) -> Parameters:
        weights = tuple(jnp.where((steps == step)[:, None], w, 0) for w in sequence.weights)
        return _through_time(cell, params, sequence, weights)

    return online, jax.lax.map(of_step, steps)


def _where(
    cell: TraceCell, params: Parameters, sequence: Sequence, path: tuple, allowed: float
) -> str:
    """At which step and place the two first differ, and by how much at most."""
    ours, theirs = (
        np.asarray(dict(tree_leaves_with_path(gradients))[path])
        for gradients in _at_every_step(cell, params, sequence)
    )
    difference = np.nan_to_num(np.abs(ours - theirs), nan=np.inf)
    largest = difference.reshape(len(difference), -1).max(axis=1)
    # where errors of many steps add up, no single one may be wrong
    step = int((largest > allowed).argmax() if (largest > allowed).any() else largest.argmax())
    place = np.unravel_index(difference[step].argmax(), ours.shape[1:])
    entry = f"entry {[int(index) for index in place]}" if place else "it"
    return (
        f"First at step {step}, where {entry} is {ours[step, *place]!s} by the traces and "
        f"{theirs[step, *place]!s} by autodiff; the largest difference, {largest.max():.3g}, is at "
        f"step {int(largest.argmax())}; {allowed:.3g} is allowed."
    )
