import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cells.cos_sin import cos_sin


@pytest.mark.parametrize(("largest", "bound"), [(7.0, 1.3e-7), (10_000.0, 1.3e-7), (1e5, 1e-5)])
def test_single_precision_is_as_good_as_the_numbers_are(largest, bound):
    grid = np.linspace(-largest, largest, 1_000_001).astype(np.float32)
    # near the multiples of a quarter turn, where one of the two is small and the quadrant changes
    quarters = np.pi / 2 * np.arange(-int(largest / 1.6), int(largest / 1.6))
    close = np.concatenate([quarters * (1 + e) for e in (-3e-7, 0.0, 3e-7)]).astype(np.float32)
    for angle in (grid, close):
        cos, sin = jax.jit(cos_sin)(angle)
        assert cos.dtype == sin.dtype == jnp.float32
        np.testing.assert_allclose(cos, np.cos(angle.astype(float)), rtol=0, atol=bound)
        np.testing.assert_allclose(sin, np.sin(angle.astype(float)), rtol=0, atol=bound)


@pytest.mark.parametrize("angle", [1e7, 1e8, 1e9, 1e20, 3e38])
def test_no_angle_is_too_large_for_the_unit_circle(angle):
    cos, sin = cos_sin(jnp.array([angle, -angle], jnp.float32))
    np.testing.assert_allclose(cos**2 + sin**2, 1.0, atol=3e-7)


def test_double_precision_is_that_of_jax():
    with jax.enable_x64(True):
        angle = jnp.linspace(-9.0, 9.0, 1001)
        cos, sin = cos_sin(angle)
        np.testing.assert_array_equal(cos, jnp.cos(angle))
        np.testing.assert_array_equal(sin, jnp.sin(angle))


def test_derivatives_are_the_other_function_in_both_modes():
    angle = jnp.linspace(-9.0, 9.0, 1001)
    cos, sin = cos_sin(angle)
    tangents = jax.jvp(cos_sin, (angle,), (jnp.full_like(angle, 2.0),))[1]
    np.testing.assert_array_equal(tangents[0], -2 * sin)
    np.testing.assert_array_equal(tangents[1], 2 * cos)
    gradient = jax.grad(lambda x: (3 * cos_sin(x)[0] + 5 * cos_sin(x)[1]).sum())(angle)
    np.testing.assert_allclose(gradient, 5 * cos - 3 * sin, atol=1e-6)
    second = jax.vmap(jax.grad(jax.grad(lambda x: cos_sin(x)[1])))(angle)
    np.testing.assert_allclose(second, -sin, atol=1e-7)


@pytest.mark.parametrize("angle", [np.inf, -np.inf, np.nan])
def test_what_is_no_angle_has_no_cosine(angle):
    assert np.isnan(cos_sin(jnp.float32(angle))).all()
