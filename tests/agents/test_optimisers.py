"""Optimisers whose step size is an argument, against optax's own, with clipping and schedules."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from untruncated.agents.adam import adam_with_corrections, bias_corrections
from untruncated.agents.optimisers import OPTIMISERS, adam, descent, sgd

STEPS = 60
SCHEDULE = optax.linear_schedule(0.3, 0.01, STEPS)


@pytest.fixture(autouse=True)
def _float64():
    with jax.enable_x64(True):
        yield


def _gradients():
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.integers(-4, 3, (3, 2))
    return {"w": rng.normal(size=(STEPS, 3, 2)) * sizes, "b": (rng.normal(size=(STEPS,)),)}


def _start():
    return jax.tree.map(lambda leaf: np.ones(leaf.shape[1:]), _gradients())


def _walk(optimiser, **given):
    """The parameters after every step, each with its values of what is given."""

    def step(carry, xs):
        gradient, more = xs
        params, state = carry
        updates, state = optimiser.update(gradient, state, params, **more)
        params = optax.apply_updates(params, updates)
        return (params, state), params

    start = jax.tree.map(jnp.asarray, _start())
    carry = start, optimiser.init(start)
    return jax.jit(lambda: jax.lax.scan(step, carry, (_gradients(), given))[1])()


def _agree(ours, theirs):
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert np.abs(b - 1).max() > 0.1
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)  # schedules are in float32


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (adam(0.8, 0.99, 1e-6), optax.adam(SCHEDULE, 0.8, 0.99, 1e-6)),
        (adam(clip=0.5), optax.chain(optax.clip(0.5), optax.adam(SCHEDULE))),
        (sgd(), optax.sgd(SCHEDULE)),
        (sgd(0.9, clip=0.1), optax.chain(optax.clip(0.1), optax.sgd(SCHEDULE, 0.9))),
    ],
    ids=["adam", "adam, clipped", "sgd", "sgd with momentum, clipped"],
)
def test_a_schedules_values_passed_in_are_those_of_optax_with_the_schedule(ours, theirs):
    _agree(_walk(ours, step_size=SCHEDULE(jnp.arange(STEPS))), _walk(theirs))


def test_adam_with_corrections_goes_into_a_chain_and_is_adam():
    ours = optax.chain(optax.clip_by_global_norm(1.0), adam_with_corrections())
    theirs = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(SCHEDULE))
    given = {"step_size": SCHEDULE(jnp.arange(STEPS))}
    given["corrections"] = bias_corrections(jnp.arange(1, STEPS + 1))
    _agree(_walk(ours, **given), _walk(theirs))


def test_any_direction_of_optax_becomes_an_optimiser_with_a_step_size():
    ours, theirs = optax.chain(optax.scale_by_rms(), descent()), optax.rmsprop(0.1)
    _agree(_walk(ours, step_size=jnp.full(STEPS, 0.1)), _walk(theirs))


@pytest.mark.parametrize("name", OPTIMISERS)
def test_online_optimisers_take_the_same_arguments(name):
    corrections = bias_corrections(jnp.int32(1))
    optimiser, params = OPTIMISERS[name](), {"w": jnp.ones(2)}
    updates, _ = optimiser.update(
        params, optimiser.init(params), params, step_size=jnp.array(0.1), corrections=corrections
    )
    np.testing.assert_allclose(updates["w"], -0.1, rtol=1e-6)
