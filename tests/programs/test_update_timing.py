"""Timing side by side: every agent has its turn in every round, and times its own program."""

import numpy as np
import pytest

from untruncated.catalogue import CatalogueError
from untruncated.experiments.spec import resolve_run
from untruncated.programs import rounds, update_timing

AGENTS = [
    {"cell": {"name": "linear_rtu", "width": 3}, "credit": {"name": "rtrl"}},
    {
        "cell": {"name": "gru", "width": 2},
        "credit": {"name": "truncated_bptt", "truncation": 3},
    },
]
SPEC = {
    "program": "update_timing",
    "steps": 20,
    "repeats": 3,
    "environment": "trace_conditioning",
    "learner": "td",
    "agents": AGENTS,
    "seeds": [0],
}


def test_a_round_gives_each_agent_its_turn_and_begins_with_another_one(monkeypatch):
    program = update_timing.build(resolve_run(SPEC).fields, [], {})
    turns, clock = [], iter(float(number) for number in range(100))
    measured = rounds._seconds

    def watched(turn):
        turns.append(program.turns.index(turn))
        return measured(turn)

    monkeypatch.setattr(rounds, "_seconds", watched)
    monkeypatch.setattr(rounds.time, "process_time", lambda: next(clock))
    monkeypatch.setattr(rounds.time, "perf_counter", lambda: next(clock))
    carry = program.init()
    for _ in range(program.total_steps):
        carry = program.advance(carry)
    assert turns == [0, 1, 1, 0, 0, 1]
    metric = program.metrics(carry)["seconds_per_update"]
    assert metric.axes == ("agent", "repeat")
    np.testing.assert_allclose(metric.values, np.full((2, 3), 1 / 20))  # one tick, 20 updates
    assert program.diverged(carry) == []


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ([], "at least one entry"),
        ([{"cell": AGENTS[0]["cell"]}], r"agents\[0\]: must have cell and credit"),
        ([AGENTS[0], {**AGENTS[1], "credit": "rtrl"}], r"agents\[1\]\.credit\.name.*'rtrl'"),
        ([{**AGENTS[0], "cell": {"name": "lstm"}}], r"agents\[0\]\.cell\.name"),
    ],
)
def test_agents_that_cannot_be_are_told(agents, message):
    with pytest.raises(CatalogueError, match=message):
        resolve_run({**SPEC, "agents": agents})


def test_an_agents_defaults_do_not_change_the_runs_name():
    explicit = [
        {"cell": {**AGENTS[0]["cell"], "activation": "relu"}, "credit": "rtrl"},
        AGENTS[1],
    ]
    assert resolve_run({**SPEC, "agents": explicit}).hash == resolve_run(SPEC).hash
