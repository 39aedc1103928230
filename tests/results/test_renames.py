"""Specs of old words in today's, and what has none stays as it is."""

import pytest

from untruncated.results.renames import has_old_words, renamed

ONLINE = {
    "program": "online_prediction",
    "steps": 100,
    "step_sizes": [0.001],
    "seeds": [0],
    "environment": {"name": "trace_conditioning"},
    "cell": {"name": "gru", "width": 3},
    "credit": {"name": "truncated_bptt", "truncation": 2},
    "learner": {"name": "td", "trace_decay": 1.0},
}
CASE = {"cell": {"name": "linear_rtu", "width": 3}, "credit": {"name": "rtrl"}}
RING = {"name": "coupled_ring", "units": 4}
OLD = {
    "components": (
        ONLINE,
        {
            "program": "online_prediction",
            "steps": 100,
            "step_sizes": [0.001],
            "seeds": [0],
            "environment": {"name": "trace_conditioning"},
            "cell": {"name": "gru", "width": 3},
            "gradient": {"name": "truncated_bptt", "truncation": 2},
            "agent": {"name": "td", "trace_decay": 1.0},
        },
    ),
    "members": (
        {"program": "update_timing", "learner": {"name": "td"}, "agents": [CASE, CASE]},
        {
            "program": "update_timing",
            "agent": {"name": "td"},
            "cases": [{"cell": CASE["cell"], "gradient": {"name": "rtrl"}}] * 2,
        },
    ),
    "dense": (
        {"program": "meta_optimisation", "estimator": {"name": "rtrl"}},
        {"program": "meta_optimisation", "estimator": {"name": "dense_rtrl"}},
    ),
    "traces": (
        {"program": "meta_optimisation", "estimator": {"name": "cell_traces"}},
        {"program": "meta_optimisation", "estimator": {"name": "rtrl", "semantics": 2}},
    ),
    "cases": (
        {
            "program": "estimator_costs",
            "cases": [{"problem": RING, "estimator": {"name": name}} for name in ("rtrl", "uoro")],
        },
        {
            "program": "estimator_costs",
            "cases": [
                {"problem": RING, "estimator": {"name": name}} for name in ("dense_rtrl", "uoro")
            ],
        },
    ),
}


@pytest.mark.parametrize(("old", "new"), OLD.values(), ids=OLD)
def test_old_words_become_todays_once(old, new):
    assert has_old_words(old)
    assert list(renamed(old).items()) == list(new.items())  # in the same order
    assert not has_old_words(new)
    assert renamed(new) == new


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"program": "optimal_prediction", "environment": {"name": "trace_conditioning"}},
        {"program": "meta_optimisation", "estimator": {"name": "uoro"}},
        {"program": "meta_optimisation", "estimator": {"name": "rtrl", "semantics": 2}},
        {"program": ["update_timing"], "agents": 3, "cases": "none", "estimator": "rtrl"},
        {"cases": [None, 3, {"estimator": {"name": ["rtrl"]}}]},
        {"credit": 1, "gradient": 2},
    ],
)
def test_what_has_no_old_words_stays(spec):
    assert renamed(spec) == spec
    assert not has_old_words(spec)
