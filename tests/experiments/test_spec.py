"""Run specs: one canonical form, one name, and names that do not change."""

import pytest

from untruncated.catalogue import CELLS, CatalogueError
from untruncated.experiments.spec import resolve_run, seed_block

TUNING = {
    "program": "online_prediction",
    "steps": 200_000,
    "environment": {"name": "trace_conditioning"},
    "cell": {"name": "linear_rtu", "width": 53},
    "credit": {"name": "rtrl"},
    "learner": {"name": "td"},
    "step_sizes": [1e-3, 3e-3],
    "seeds": [0, 1, 2, 3, 4],
}

# A name that changes orphans committed results. Never edit a line here: give a new meaning a new
# field, or raise the component's `semantics`.
GOLDEN = {
    "2cd25455306455f2": {},
    "f8db1e587880d48e": {
        "cell": {"name": "gru", "width": 1},
        "credit": {"name": "truncated_bptt", "truncation": 45},
        "step_sizes": [3e-4, 1e-3, 3e-3, 1e-2],
    },
    "4d98510866821fd5": {
        "cell": {"name": "lru", "width": 30},
        "credit": {"name": "truncated_bptt", "truncation": 1},
        "step_sizes": [3e-4, 1e-3, 3e-3, 1e-2],
    },
}


FIGURE_8 = {
    "program": "next_observation",
    "steps": 50_000,
    "environment": "three_state_mdp",
    "cell": {"name": "vanilla_rnn", "width": 3},
    "credit": {"name": "truncated_bptt", "truncation": 2},
    "step_sizes": [1e-3, 3e-3, 1e-2],
    "seeds": [0, 1, 2, 3, 4],
}


def changed(**fields):
    return {**TUNING, **fields}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_names(name):
    assert resolve_run(changed(**GOLDEN[name])).hash == name


def test_the_golden_name_of_next_observation_and_of_its_defaults_spelled_out():
    assert resolve_run(FIGURE_8).hash == "db594eb2cc00f4ad"
    cell = {"recurrent_init": "orthogonal", "bias": False, **FIGURE_8["cell"]}
    assert resolve_run({**FIGURE_8, "optimiser": "adam", "cell": cell}).hash == "db594eb2cc00f4ad"
    for field, value in (("recurrent_init", "uniform"), ("bias", True)):
        assert resolve_run({**FIGURE_8, "cell": {**cell, field: value}}).hash != "db594eb2cc00f4ad"
    assert resolve_run({**FIGURE_8, "optimiser": "sgd"}).hash != "db594eb2cc00f4ad"


def test_fields_at_their_defaults_do_not_change_the_name():
    spelled_out = changed(
        environment={"name": "trace_conditioning", "interval": 30, "distractors": 10},
        cell={
            "name": "linear_rtu",
            "width": 53,
            "activation": "relu",
            "parameterisation": "exp_exp",
        },
        learner={"name": "td", "discount": 0.966, "trace_decay": 0.9, "hidden": 0},
        precision="float32",
        fidelity="exact",
    )
    assert resolve_run(spelled_out).json == resolve_run(TUNING).json


@pytest.mark.parametrize("size", [0.001, "1e-3", "0.001", 1e-3])
def test_one_number_has_one_form(size):
    assert resolve_run(changed(step_sizes=[size, 0.003])).json == resolve_run(TUNING).json


def test_whole_numbers_are_floats_where_a_float_is_meant():
    learner = resolve_run(changed(learner={"name": "td", "trace_decay": 1})).canonical["learner"]
    assert repr(learner["trace_decay"]) == "1.0"


@pytest.mark.parametrize(
    "fields",
    [
        {"steps": 100_000},
        {"seeds": [5, 6, 7, 8, 9]},
        {"step_sizes": [1e-3]},
        {"cell": {"name": "linear_rtu", "width": 54}},
        {"cell": {"name": "linear_rtu", "width": 53, "activation": "tanh"}},
        {"credit": {"name": "truncated_bptt", "truncation": 5}},
        {"learner": {"name": "td", "trace_decay": 0.8}},
        {"environment": {"name": "trace_conditioning", "interval": 20}},
        {"precision": "float64"},
        {"fidelity": "reference"},
        {"learner": {"name": "td", "hidden": 64}},
    ],
)
def test_whatever_changes_the_numbers_changes_the_name(fields):
    assert resolve_run(changed(**fields)).hash != resolve_run(TUNING).hash


def test_a_raised_semantics_changes_the_name_and_older_specs_are_refused(monkeypatch):
    from dataclasses import replace

    before = resolve_run(TUNING)
    monkeypatch.setitem(CELLS, "linear_rtu", replace(CELLS["linear_rtu"], semantics=2))
    after = resolve_run(TUNING)
    assert after.hash != before.hash
    assert after.canonical["cell"]["semantics"] == 2
    assert resolve_run(after.canonical).json == after.json
    with pytest.raises(CatalogueError, match="semantics 2, not 1"):
        resolve_run(changed(cell={"name": "linear_rtu", "width": 53, "semantics": 1}))


def test_the_canonical_form_is_a_fixed_point():
    spec = resolve_run(TUNING)
    assert resolve_run(spec.canonical).json == spec.json


def test_a_final_run_names_its_tuning_run_and_no_step_size():
    final = {key: value for key, value in TUNING.items() if key != "step_sizes"}
    spec = resolve_run({**final, "tuning": resolve_run(TUNING).hash, "seeds": [1000]})
    assert spec.tuning == resolve_run(TUNING).hash
    assert "step_sizes" not in spec.canonical


def test_seed_blocks_do_not_overlap():
    assert seed_block(1000, 0) == [1000, 1001, 1002, 1003, 1004]
    assert seed_block(1000, 1) == [1005, 1006, 1007, 1008, 1009]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cell": {"name": "lineer_rtu", "width": 3}}, "did you mean 'linear_rtu'"),
        ({"cell": {"name": "linear_rtu", "width": 0}}, "spec.cell.width: must be at least 1"),
        ({"cell": {"name": "linear_rtu"}}, "spec.cell.width: is missing"),
        ({"cell": {"name": "gru", "width": 3}}, "cannot be trained with 'rtrl'"),
        ({"credit": "bptt", "steps": 2010}, "at most 2000 steps, not 2010. 'dense_rtrl' has the"),
        (
            {
                "cell": {"name": "block_diagonal", "width": 3, "halved": True},
                "credit": {"name": "truncated_bptt", "truncation": 5},
            },
            "halved: True, which changes nothing with 'truncated_bptt'",
        ),
        ({"cell": "nowhere.at_all:Cell"}, "cannot be imported"),
        ({"cell": "json:JSONDecoder"}, "has no attribute catalogue_entry"),
        ({"step_sizes": []}, "at least one number"),
        ({"step_sizes": [1e-3, "0.001"]}, "names a number twice"),
        ({"step_sizes": [-1.0]}, r"step_sizes\[0\]: must be at least 0"),
        ({"seeds": [0.5]}, r"seeds\[0\]: must be a whole number"),
        ({"steps": True}, "spec.steps: must be a whole number, not True"),
        ({"learner": {"name": "td", "discount": 1.0}}, "must be below 1"),
        ({"stepz": 3}, r"spec.stepz: unknown field 'stepz' \(did you mean 'steps'"),
    ],
)
def test_what_is_not_allowed_is_named(fields, message):
    with pytest.raises(CatalogueError, match=message):
        resolve_run(changed(**fields))


REFERENCE = {"fidelity": "reference", "cell": {"name": "lru", "width": 3}}


@pytest.mark.parametrize("parameterisation", ["exp_exp", "sigmoid"])
def test_the_public_codes_lru_differs_under_every_parameterisation(parameterisation):
    cell = {"name": "lru", "width": 3, "parameterisation": parameterisation}
    assert resolve_run(changed(**REFERENCE | {"cell": cell})).canonical["fidelity"] == "reference"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cell": {"name": "block_diagonal", "width": 3}}, "only these differ: linear_rtu, nonl"),
        ({"credit": {"name": "truncated_bptt", "truncation": 5}}, "differs under .* 'rtrl' alone"),
        (
            {"cell": {"name": "nonlinear_rtu", "width": 3, "parameterisation": "exp_exp_nu"}},
            "'nonlinear_rtu' differs with parameterisation: exp_exp alone",
        ),
    ],
)
def test_a_fidelity_that_would_change_nothing_is_refused(fields, message):
    with pytest.raises(CatalogueError, match=f"spec.fidelity: .*change nothing.*{message}"):
        resolve_run(changed(**REFERENCE | fields))


def test_the_optimal_predictor_has_no_other_fidelity():
    spec = {"program": "optimal_prediction", "steps": 100, "environment": "trace_conditioning"}
    with pytest.raises(CatalogueError, match=r"spec.fidelity: .*change nothing"):
        resolve_run({**spec, "seeds": [1000], "fidelity": "reference"})


def test_bptt_unrolls_as_many_inputs_as_the_run_has_steps_and_its_name_does_not_say_so():
    spec = resolve_run(changed(steps=2000, credit="bptt"))
    assert spec.fields["credit"] == {"name": "bptt", "truncation": 2000}
    assert spec.canonical["credit"] == {"name": "bptt"}
    assert resolve_run(spec.canonical).json == spec.json
