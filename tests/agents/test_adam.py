"""Adam with the corrections passed in, against optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from untruncated.agents.adam import adam_with_corrections, bias_corrections

STEPS, STEP_SIZE = 200, 3e-3


def _start():
    return {"w": np.linspace(-2.0, 2.0, 12).reshape(3, 4), "b": (np.array(0.5), np.zeros(2))}


def _gradients():
    """Of very different sizes, with steps and entries of zero."""
    rng = np.random.default_rng(0)
    made = jax.tree.map(
        lambda leaf: rng.normal(size=(STEPS, *leaf.shape)) * 10 ** rng.uniform(-6, 2, leaf.shape),
        _start(),
    )
    made["w"][:30, 0] = 0.0
    made["w"][100:150] = 0.0
    return made


def _ours(params, gradients, step_size, **decays):
    all_corrections = bias_corrections(jnp.arange(1, STEPS + 1), **decays)
    optimiser = adam_with_corrections(**{k: v for k, v in decays.items() if k != "epsilon"})

    def step(carry, xs):
        gradient, corrections = xs
        params, state = carry
        updates, state = optimiser.update(
            gradient, state, params, step_size=step_size, corrections=corrections
        )
        params = optax.apply_updates(params, updates)
        return (params, state), params

    start = (params, optimiser.init(params))
    return jax.jit(lambda: jax.lax.scan(step, start, (gradients, all_corrections))[1])()


def _optax(params, gradients, step_size, b1=0.9, b2=0.999, epsilon=1e-8):
    optimiser = optax.adam(step_size, b1, b2, epsilon)

    def step(carry, gradient):
        params, state = carry
        updates, state = optimiser.update(gradient, state)
        params = optax.apply_updates(params, updates)
        return (params, state), params

    start = (params, optimiser.init(params))
    return jax.jit(lambda: jax.lax.scan(step, start, gradients)[1])()


def _cast(tree, dtype):
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), tree)


def _moved(history, start):
    """How far the parameters went, at every step, as one matrix."""
    rows = jax.tree.map(lambda leaf, first: np.asarray(leaf, float) - first, history, start)
    return np.concatenate([row.reshape(STEPS, -1) for row in jax.tree.leaves(rows)], axis=1)


@pytest.mark.parametrize(
    "decays", [{}, {"b1": 0.5, "b2": 0.9, "epsilon": 1e-3}], ids=["default", "other"]
)
def test_equals_optax_in_float64(decays):
    start = _start()
    with jax.enable_x64(True):
        params, gradients = _cast(start, float), _cast(_gradients(), float)
        ours = _ours(params, gradients, STEP_SIZE, **decays)
        theirs = _optax(params, gradients, STEP_SIZE, **decays)
    assert _moved(ours, start).std() > STEP_SIZE
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert a.dtype == np.float64
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_float32_follows_float64_at_least_as_closely_as_optax_does():
    start = jax.tree.map(lambda leaf: np.float64(np.float32(leaf)), _start())
    gradients = jax.tree.map(lambda leaf: np.float64(np.float32(leaf)), _gradients())
    with jax.enable_x64(True):
        exact = _optax(_cast(start, float), _cast(gradients, float), STEP_SIZE)
    params, narrow = _cast(start, np.float32), _cast(gradients, np.float32)
    ours, theirs = (made(params, narrow, STEP_SIZE) for made in (_ours, _optax))
    for a, b, c in zip(*map(jax.tree.leaves, (ours, exact, theirs)), strict=True):
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(a, c, rtol=1e-6, atol=1e-6)


def test_float32_corrections_are_exact_from_the_first_update_on():
    counts = np.array([1, 2, 10, 1_000, 1_000_000, 20_000_000])
    made = bias_corrections(jnp.asarray(counts))
    first, root = 1 - 0.9**counts, np.sqrt(-np.expm1(counts * np.log1p(-0.001)))
    assert made.scale.dtype == np.float32
    np.testing.assert_allclose(made.scale, root / first, rtol=1e-6)
    np.testing.assert_allclose(made.epsilon, 1e-8 * root, rtol=1e-6)


def test_first_update_is_one_step_size_along_the_sign():
    params, gradient = jnp.zeros(3), jnp.array([5.0, -1e-3, 0.0])
    corrections = bias_corrections(jnp.int32(1))
    optimiser = adam_with_corrections()
    moved, moments = optimiser.update(
        gradient, optimiser.init(params), step_size=0.01, corrections=corrections
    )
    np.testing.assert_allclose(moved, [-0.01, 0.01, 0.0], rtol=2e-5)
    np.testing.assert_allclose(moments.first, 0.1 * gradient, rtol=1e-6)
    np.testing.assert_allclose(moments.second, 0.001 * gradient**2, rtol=1e-6)
