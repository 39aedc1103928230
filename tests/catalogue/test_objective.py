"""What step sizes are chosen by, and which way is better."""

from untruncated.catalogue import lookup, programs
from untruncated.catalogue.objective import Objective
from untruncated.catalogue.programs import PROGRAMS, better
from untruncated.experiments.spec import resolve_run


def test_rules_are_those_of_the_committed_specs():
    rules = {name: entry.objective.rule for name, entry in PROGRAMS.items() if entry.tuned}
    assert rules == {
        "online_prediction": "lowest_mean_msre",
        "policy_optimisation": "highest_mean_return",
        "next_observation": "lowest_mean_cross_entropy",
        "meta_optimisation": "lowest_mean_loss",
    }
    assert Objective("return", "max").rule == "highest_mean_return"


def test_a_metric_is_better_the_way_of_the_objective_that_it_is(monkeypatch):
    control = programs.ProgramEntry("made:up", objective=Objective("return", "max"))
    timing = programs.ProgramEntry("made:up", tuned=False, objective=Objective("seconds", "max"))
    monkeypatch.setattr(programs, "PROGRAMS", {**PROGRAMS, "control": control, "timing": timing})
    assert [better(f"return{part}") for part in ("", "_last_tenth", "_curve")] == ["max"] * 3
    names = ("returns", "msre", "loss_curve", "cross_entropy", "seconds", "unknown")
    assert [better(name) for name in names] == ["min"] * 6


def test_a_spec_may_name_the_rule_of_its_program_and_its_hash_does_not_know():
    raw = {
        "program": "next_observation",
        "steps": 100,
        "environment": "three_state_mdp",
        "cell": {"name": "vanilla_rnn", "width": 3},
        "credit": {"name": "truncated_bptt", "truncation": 2},
        "tuning": "0123456789abcdef",
        "seeds": [0],
    }
    plain = resolve_run(raw)
    entry = lookup("program", "next_observation", "program")
    assert plain.fields["selection"] == "lowest_mean_cross_entropy"
    assert "selection" not in plain.canonical
    assert resolve_run(raw | {"selection": entry.objective.rule}).hash == plain.hash
