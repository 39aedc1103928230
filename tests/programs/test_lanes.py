"""Units added to fill vectors: the same learner, and nothing comes of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.experiments.spec import resolve_run
from untruncated.programs import lanes, online_prediction


def _run(cell, learner, monkeypatch, lane_count):
    monkeypatch.setattr(lanes, "LANES", lane_count)
    spec = resolve_run(
        {
            "program": "online_prediction",
            "steps": 300,
            "environment": {"name": "trace_conditioning", "interval": 10},
            "cell": cell,
            "credit": "rtrl",
            "learner": {"discount": 0.9, **learner},
            "step_sizes": [1e-2],
            "seeds": [0, 1],
            "precision": "float64",
        }
    )
    program = online_prediction.build(spec.fields, spec.fields["step_sizes"], {})
    carry = program.init()
    for _ in range(program.total_steps // program.chunk_steps):
        carry = program.advance(carry)
    return carry, program.metrics(carry)["msre_curve"].values


@pytest.mark.parametrize(
    ("cell", "learner"),
    [
        ({"name": "linear_rtu", "width": 11}, {"name": "td"}),
        ({"name": "linear_rtu", "width": 11, "parameterisation": "exp"}, {"name": "td"}),
        ({"name": "nonlinear_rtu", "width": 9, "activation": "tanh"}, {"name": "td", "hidden": 3}),
        ({"name": "linear_rtu", "width": 11}, {"name": "delayed_return", "delay": 70}),
    ],
)
def test_the_filled_learner_is_the_same_and_its_added_units_stay_at_nothing(
    cell, learner, monkeypatch
):
    with jax.enable_x64(True):
        filled, curve = _run(cell, learner, monkeypatch, 8)
        plain, expected = _run(cell, learner, monkeypatch, 1)
    np.testing.assert_allclose(curve, expected, rtol=1e-9)
    width = cell["width"]
    params, own = filled.learners.params, plain.learners.params
    assert params.cell.nu.shape == (1, 2, 16) and own.cell.nu.shape == (1, 2, width)
    np.testing.assert_allclose(params.cell.w_real[..., :width], own.cell.w_real, rtol=1e-9)
    assert not jnp.any(params.cell.w_real[..., width:]) and not jnp.any(
        params.cell.w_imag[..., width:]
    )
    weights = params.head.kernels if learner.get("hidden") else params.head.weights
    for leaf in weights:
        added = leaf[:, :, width:]
        assert added.size and not jnp.any(added)


@pytest.mark.parametrize(
    ("cell", "credit"),
    [
        ({"name": "linear_rtu", "width": 5}, "rtrl"),
        ({"name": "linear_rtu", "width": 16}, "rtrl"),
        ({"name": "linear_rtu", "width": 11}, "dense_rtrl"),
        ({"name": "lru", "width": 11}, "rtrl"),
    ],
)
def test_what_gains_nothing_is_left_alone(cell, credit):
    spec = resolve_run(
        {
            "program": "online_prediction",
            "steps": 10,
            "environment": "trace_conditioning",
            "cell": cell,
            "credit": credit,
            "learner": "td",
            "step_sizes": [1e-2],
            "seeds": [0],
        }
    )
    program = online_prediction.build(spec.fields, [1e-2], {})
    assert program.predictor.cell.width == cell["width"]
