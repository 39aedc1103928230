"""Which estimators a spec may use on which problems, and names that do not change."""

from dataclasses import replace

import pytest

from untruncated.catalogue import CatalogueError
from untruncated.catalogue.problems import PROBLEMS
from untruncated.suite.spec import resolve_run

PES = {"name": "pes", "particles": 100, "sigma": 0.3, "truncation": 10}
TOY = {
    "program": "meta_optimisation",
    "steps": 20_000,
    "problem": "toy_regression",
    "estimator": PES,
    "optimiser": {"name": "adam", "b1": 0.99},
    "step_sizes": [0.01],
    "seeds": [0, 1, 2, 3, 4],
}
INFLUENCE = {
    "steps": 3000,
    "problem": "influence_balancing",
    "estimator": "rtrl",
    "optimiser": "sgd",
    "evaluation_steps": 500,
    "step_sizes": [1e-4],
}

# A name that changes orphans committed results. Never edit a line here: give a new meaning a new
# field, or raise the component's `semantics`.
GOLDEN = {
    "8d35f0cd76b25298": {},
    "5d388ad2a0c2471b": INFLUENCE,
}


def _resolve(**fields):
    return resolve_run({**TOY, **fields})


def test_fields_at_their_defaults_do_not_change_the_name():
    spelled_out = _resolve(
        problem={"name": "toy_regression", "horizon": 100, "unroll_loss": "sum"},
        optimiser={"name": "adam", "b1": 0.99, "b2": 0.999, "epsilon": 1e-8, "clip": None},
        groups=1,
        evaluations=1,
        evaluation_steps=None,
        fidelity="exact",
    )
    assert spelled_out.json == _resolve().json
    assert resolve_run(_resolve().canonical).json == _resolve().json


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_names(name):
    assert _resolve(**GOLDEN[name]).hash == name


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"estimator": {**PES, "particles": 101}}, "estimator.particles: must be a multiple of 2"),
        ({"estimator": {**PES, "sigma": 0}}, r"estimator.sigma: must be above 0, not 0\.0"),
        ({"estimator": {**PES, "truncation": 101}}, "estimator.truncation: must be at most 100"),
        (
            {"estimator": {**PES, "truncation": 30}, "fidelity": "reference"},
            "estimator.truncation: must divide 100",
        ),
        ({"groups": 101}, "groups: must be at most 100, not 101"),
        ({"groups": 2, "estimator": "bptt"}, "groups: must be 1, not 2"),
        ({"evaluation_steps": 101}, "evaluation_steps: must be at most 100, not 101"),
        ({**INFLUENCE, "evaluation_steps": None}, "evaluation_steps: is missing"),
        ({**INFLUENCE, "groups": 3}, "groups: must be 1, not 3"),
        (
            {**INFLUENCE, "estimator": "bptt"},
            r"estimator.name: estimator 'bptt' needs inner problems that end, .* Allowed: "
            "truncated_es, pes, es_single, pes_analytic, truncated_bptt, rtrl, uoro$",
        ),
        (
            {"estimator": "cell_traces"},
            r"estimator.name: estimator 'cell_traces' needs a cell with traces, which problem "
            "'toy_regression' does not have",
        ),
        (
            {
                "problem": {"name": "return_prediction", "cell": "gru"},
                "estimator": "cell_traces",
            },
            "estimator 'cell_traces' needs a cell with traces",
        ),
        (
            {"problem": {"name": "return_prediction", "horizon": 1000, "recorded": 999}},
            "problem.recorded: must be at least 1000, the steps of an inner problem, not 999",
        ),
        ({"optimiser": "adamw"}, r"optimiser.name: unknown value 'adamw' \(did you mean 'adam'"),
        ({"steps": 15}, "steps: must be a multiple of 10"),
    ],
)
def test_what_does_not_fit_is_named(fields, message):
    with pytest.raises(CatalogueError, match=message):
        _resolve(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"estimator": {**PES, "truncation": 30}}, "estimator.truncation: must divide 1000"),
        ({"problem": "influence_balancing"}, "problem.horizon: must be a number"),
        ({"step_sizes": [0.1]}, "unknown field 'step_sizes'"),
        ({"problem": {"name": "character_lstm", "text": "latin"}}, "problem.text: unknown value"),
    ],
)
def test_what_cannot_be_compared_with_a_gradient_is_named(fields, message):
    variance = {"program": "estimator_variance", "estimator": PES, "seeds": [0]}
    with pytest.raises(CatalogueError, match=message):
        resolve_run({"problem": "character_lstm", **variance, **fields})


def test_a_problem_without_derivatives_takes_evolution_strategies_alone(monkeypatch):
    entry = replace(PROBLEMS["toy_regression"], differentiable=lambda fields: False)
    monkeypatch.setitem(PROBLEMS, "toy_regression", entry)
    _resolve()
    with pytest.raises(CatalogueError, match="needs derivatives") as raised:
        _resolve(estimator={**PES, "name": "pes_analytic"})
    assert raised.value.problem.endswith("Allowed: full_es, truncated_es, pes, es_single")
    variance = {"program": "estimator_variance", "problem": "toy_regression", "seeds": [0]}
    with pytest.raises(CatalogueError, match="truth: 'bptt' needs derivatives"):
        resolve_run({**variance, "estimator": PES})
    resolve_run({**variance, "estimator": PES, "truth": "full_es"})


def test_a_truncation_that_does_not_divide_is_allowed_where_fidelity_is_exact():
    assert _resolve(estimator={**PES, "truncation": 30}).fields["estimator"]["truncation"] == 30
