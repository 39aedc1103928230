"""The check of traces passes right cells, and names what is wrong with wrong ones."""

from functools import partial

import jax
import jax.numpy as jnp
import pytest

from untruncated.cells import BlockDiagonal, LinearRTU, NonlinearRTU
from untruncated.testing import assert_rtrl_exact

short = partial(assert_rtrl_exact, steps=60, resets=1)


class Inflating(LinearRTU):
    """Its traces grow by a millionth at each step."""

    def advance(self, params, derived, traces, before, after, x):
        traces = super().advance(params, derived, traces, before, after, x)
        return jax.tree.map(lambda leaf: leaf * (1 + 1e-6), traces)


class OffByOneEntry(NonlinearRTU):
    def contract(self, params, derived, traces, state, cotangent):
        gradient = super().contract(params, derived, traces, state, cotangent)
        return gradient._replace(w_imag=gradient.w_imag.at[1, 0].add(1e-3))


class SinglePrecision(LinearRTU):
    def init(self, key):
        return jax.tree.map(lambda leaf: leaf.astype(jnp.float32), super().init(key))


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("seed", [3, 4])
def test_a_right_cell_passes(precision, seed):
    short(BlockDiagonal(2, 3, "tanh"), key=jax.random.key(seed), precision=precision)


def test_traces_that_are_off_by_a_millionth_are_named():
    short(Inflating(2, 3), precision="float32")
    with pytest.raises(AssertionError) as raised:
        short(Inflating(2, 3))
    assert "is not that of autodiff through time. First at step 1" in str(raised.value)


def test_the_message_names_the_parameter_the_step_and_both_values():
    with pytest.raises(AssertionError) as raised:
        short(OffByOneEntry(2, 3))
    message = str(raised.value)
    assert "with respect to .w_imag is not that" in message
    assert "First at step 0, where entry [1, 0] is " in message
    by_traces, by_autodiff = (
        float(message.split(f" by {what}")[0].split()[-1]) for what in ("the traces", "autodiff")
    )
    assert by_traces - by_autodiff == pytest.approx(1e-3)
    assert "the largest difference, 0.001, is at step" in message


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: short(SinglePrecision(2, 3)), "is float32 under float64"),
        (
            lambda: short(LinearRTU(2, 3), resets=0, steps=1),
            "with respect to .theta is zero at every",
        ),
    ],
)
def test_what_cannot_be_checked_is_said(check, message):
    with pytest.raises(AssertionError, match=message):
        check()


def test_an_unknown_precision_is_refused():
    with pytest.raises(ValueError, match="must be one of float64, float32, not 'float16'"):
        assert_rtrl_exact(LinearRTU(2, 3), precision="float16")
