"""What is said of a stream is so: targets and best predictions, by another way than the code's."""

import re

import jax
import numpy as np
import pytest

from untruncated.environments.three_state_mdp import ThreeStateMDP
from untruncated.environments.trace_conditioning import TraceConditioning
from untruncated.rendering.stream_transcript import STEPS, stream_transcript

LINE = re.compile(
    r"step (\d+) +sees (.*?) +return ([\d.]+)   best ([\d.]+)   truth: (US|CS) in (\d+)"
)


def told(stream, seed, steps, discount=0.9):
    *introduction, end = stream_transcript(stream, seed, discount, steps)
    assert end == f"broken off after {steps} steps: the stream has no end"
    assert all(len(line) <= 100 for line in introduction)
    return [line for line in introduction if line.startswith("step ")]


def test_trace_conditioning_says_what_comes_and_what_it_is_worth():
    stream = TraceConditioning(interval=10, distractors=3)
    rows = [LINE.fullmatch(line).groups() for line in told(stream, 4, 400)]
    assert [int(row[0]) for row in rows] == list(range(400))
    us = np.array(["US" in row[1].split(", ") for row in rows], float)
    # the tail of 0.9^200 weighs nothing
    returns = [us[t + 1 :] @ 0.9 ** np.arange(399 - t) for t in range(200)]
    assert np.allclose([float(row[2]) for row in rows[:200]], returns, atol=6e-4)
    for t, row in enumerate(rows[:200]):
        onset = t + int(row[5])
        assert row[4] in rows[onset][1].split(", ")
        assert row[4] not in rows[onset - 1][1].split(", ")
    best = np.array([float(row[3]) for row in rows[:200]])
    assert np.mean((best - returns) ** 2) < 0.5 * np.var(returns)


def test_a_seeds_stream_is_that_of_its_runs():
    from untruncated.programs.streams import start_streams, stream_with_returns

    stream = TraceConditioning()
    start = jax.tree.map(lambda leaf: leaf[0], start_streams(stream, np.array([1003])))
    _, observations, _, _ = stream_with_returns(stream, 0.9, start, STEPS)
    seen = [LINE.fullmatch(line)[2] for line in told(stream, 1003, STEPS)]
    assert [text == "nothing" for text in seen] == [
        not row.any() for row in np.asarray(observations)
    ]
    assert ["CS" in text for text in seen] == list(np.asarray(observations)[:, 1] > 0)


def test_the_three_state_process_is_certain_where_it_can_be():
    lines = told(ThreeStateMDP(), 2, 300)
    states = [int(re.search(r"sees (\d)", line)[1]) for line in lines]
    assert [int(re.search(r"next (\d)", line)[1]) for line in lines[:-1]] == states[1:]
    assert set(states) == {1, 2, 3}
    for t, line in enumerate(lines):
        if states[t] == 3:
            assert line.endswith(f"best: {states[t - 1]} for sure")
            assert t + 1 == len(states) or states[t + 1] == states[t - 1]
        else:
            assert line.endswith("best: 1 or 2 or 3, 1/3 each")


def test_a_stream_that_nobody_has_described_is_refused():
    with pytest.raises(TypeError, match="no transcript of object is known"):
        list(stream_transcript(object(), 0, 0.9))
