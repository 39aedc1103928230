"""Compiler options change how fast a loop is, not what it computes."""

import jax
import numpy as np
import pytest

from untruncated.experiments.spec import resolve_run
from untruncated.programs import online_prediction
from untruncated.programs.compiling import IN_PLACE, ONLINE_LEARNING
from untruncated.programs.online_prediction import _advance


@pytest.mark.parametrize(
    ("cell", "credit"),
    [
        ("linear_rtu", "rtrl"),
        ("lru", "rtrl"),
        ("gru", {"name": "truncated_bptt", "truncation": 4}),
    ],
)
def test_arrays_are_overwritten_only_after_their_last_use(cell, credit):
    spec = resolve_run(
        {
            "program": "online_prediction",
            "steps": 300,
            "environment": {"name": "trace_conditioning", "interval": 10},
            "cell": {"name": cell, "width": 8},
            "credit": credit,
            "learner": "td",
            "step_sizes": [1e-3, 1e-2],
            "seeds": [0, 1, 2],
        }
    )
    program = online_prediction.build(spec.fields, [1e-3, 1e-2], {})
    in_place, copied = (
        _advance.lower(program, program.init()).compile({**ONLINE_LEARNING, **choice})
        for choice in (IN_PLACE, dict.fromkeys(IN_PLACE, False))
    )
    assert in_place.as_text().count(" copy(") < copied.as_text().count(" copy(")
    learners = (jax.tree.leaves(run(program.init()).learners) for run in (in_place, copied))
    for one, other in zip(*learners, strict=True):
        np.testing.assert_array_equal(one, other)
