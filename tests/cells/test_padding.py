"""Units added to fill vectors: the same learner, and nothing comes of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.agents.heads import make_head
from untruncated.cells import padding
from untruncated.cells.linear_rtu import LinearRTU
from untruncated.environments.trace_conditioning import TraceConditioning
from untruncated.experiments.spec import resolve_run
from untruncated.experiments.widths import component
from untruncated.programs import online_prediction
from untruncated.programs.building import build_predictor


def _run(cell, learner, monkeypatch, lane_count):
    monkeypatch.setattr(padding, "LANES", lane_count)
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
def test_the_padded_learner_is_the_same_and_its_added_units_stay_at_nothing(
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


def test_a_padded_cell_draws_its_own_parameters_and_its_head_those_of_its_own_features():
    own, wide = LinearRTU(3, 11), LinearRTU(3, padding.padded_width(11))
    cell, key = padding.Padded(own, wide), jax.random.key(3)
    assert (cell.width, cell.inputs, cell.feature_sizes) == (16, 3, (16, 16))
    assert padding.drawn_sizes(cell) == own.feature_sizes == padding.drawn_sizes(own)
    drawn = own.init(key)
    for leaf, before in zip(cell.init(key), drawn, strict=True):
        np.testing.assert_array_equal(leaf[..., :11], before)
    assert (cell.init(key).nu[11:] == drawn.nu[-1]).all()
    for hidden in (0, 5):
        leaves, expected = (
            jax.tree.leaves(make_head(each, hidden).init(key)) for each in (cell, own)
        )
        for leaf, before in zip(leaves, expected, strict=True):
            size = before.shape[0] if before.ndim else None
            np.testing.assert_array_equal(leaf[:size] if size else leaf, before)
            assert size is None or not leaf[size:].any()


@pytest.mark.parametrize(("width", "padded"), [(1, 1), (8, 8), (9, 16), (16, 16), (53, 56)])
def test_what_one_vector_holds_is_not_padded(width, padded):
    assert padding.padded_width(width) == padded


def test_what_is_timed_is_not_padded():
    credit = {"name": "rtrl"}
    fields = {"cell": {"name": "linear_rtu", "width": 11}, "credit": credit, "fidelity": "exact"}
    fields["cell"] = component("cell", fields["cell"], "cell")
    fields["learner"] = component("learner", "td", "learner")
    widths = [
        build_predictor(fields, TraceConditioning(), padded).cell.width for padded in (True, False)
    ]
    assert widths == [16, 11]
