"""Which estimators a spec may use on which problems, and names that do not change."""

from dataclasses import replace

import pytest

from untruncated.catalogue import CatalogueError
from untruncated.catalogue.problems import PROBLEMS
from untruncated.experiments.spec import resolve_run

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


ONLINE = {
    "program": "online_prediction",
    "steps": 100,
    "environment": "trace_conditioning",
    "cell": {"name": "linear_rtu", "width": 2},
    "credit": "rtrl",
    "learner": "td",
    "step_sizes": [0.1],
    "seeds": [0],
}
SYMBOLS = {
    "program": "next_observation",
    "steps": 100,
    "environment": "three_state_mdp",
    "cell": {"name": "vanilla_rnn", "width": 3},
    "credit": "dense_rtrl",
    "step_sizes": [0.1],
    "seeds": [0],
}
OPTIMUM = {"program": "optimal_prediction", "steps": 100, "seeds": [0]}
TIMING = {
    "program": "update_timing",
    "steps": 10,
    "environment": "trace_conditioning",
    "learner": "td",
    "agents": [{"cell": {"name": "linear_rtu", "width": 2}, "credit": "rtrl"}],
    "seeds": [0],
}
SURFACE = {"program": "outer_surface", "steps": 2, "low": 0, "high": 1, "seeds": [0]}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {**ONLINE, "environment": "three_state_mdp"},
            "spec.environment.name: program 'online_prediction' needs a stream whose discounted "
            "return is predicted, which environment 'three_state_mdp' does not have. Allowed: "
            "trace_conditioning",
        ),
        (
            {**OPTIMUM, "environment": "three_state_mdp"},
            "spec.environment.name: program 'optimal_prediction' needs an optimal prediction that",
        ),
        ({**SYMBOLS, "environment": "trace_conditioning"}, "needs observations of three symbols"),
        (
            {**SYMBOLS, "cell": {"name": "linear_rtu", "width": 3}},
            "eigenvalues are counted, which cell 'linear_rtu' does not have. Allowed: vanilla_rnn",
        ),
        (
            {**SYMBOLS, "cell": {"name": "vanilla_rnn", "width": 8}},
            "spec.cell.width: program 'next_observation' needs a recurrent matrix of 3 × 3, whose "
            "eigenvalues are counted: cell 'vanilla_rnn' has that with width: 3, not 8",
        ),
        (
            {**TIMING, "learner": "delayed_return"},
            "spec.learner.name: program 'update_timing' needs an update at every step, which "
            "learner 'delayed_return' does not have. Allowed: td",
        ),
        (
            {**TIMING, "agents": [{"cell": {"name": "gru", "width": 2}, "credit": "rtrl"}]},
            "spec.agents[0].credit.name: cell 'gru' cannot be trained with 'rtrl'",
        ),
        ({**SURFACE, "problem": "coupled_ring"}, "needs two outer parameters, which problem"),
        (
            {"program": "inner_trajectory", "problem": "influence_balancing", "seeds": [0]},
            "spec.problem.horizon: must be a number: problem 'influence_balancing' would never",
        ),
        (
            {**ONLINE, "learner": {"name": "delayed_return", "discount": 0.99, "delay": 600}},
            "spec.learner.delay: 600 steps cut off more than 0.1 % of a return discounted by 0.99",
        ),
        (
            {"program": "variance_law", "steps": 10, "problem": "toy_regression", "seeds": [0]},
            "needs losses linear in θ, with a variance that is known, which problem",
        ),
    ],
)
def test_what_a_program_needs_is_named(fields, message):
    with pytest.raises(CatalogueError) as raised:
        resolve_run(fields)
    assert message in str(raised.value)
