"""Transcripts show what the agent sees beside what is true."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.environments.popgym import (
    autoencode,
    battleship,
    concentration,
    count_recall,
    higher_lower,
    labyrinth,
    minesweeper,
    multiarmed_bandit,
    repeat_first,
)
from untruncated.environments.popgym.autoencode_reference import AutoencodeReference
from untruncated.environments.popgym.labyrinth_escape import LabyrinthEscape
from untruncated.environments.popgym.registry import make
from untruncated.environments.popgym.repeat_previous import RepeatPrevious
from untruncated.rendering.transcript import transcript

I = np.int32  # noqa: E741


def cards(*kinds):
    return np.array(kinds + (0,) * (52 - len(kinds)), np.int8)


def test_card_games():
    state = repeat_first.State(cards(1, 2), I(1))
    assert make("RepeatFirstEasy").render(state) == "sees ♣   truth: the first card is ♦"
    state = repeat_first.State(cards(1, 3, 2, 0, 2), I(2))
    assert RepeatPrevious(1, 4).render(state) == "sees ♣   truth: the answer is nothing yet"
    state = state._replace(t=I(4))
    assert RepeatPrevious(1, 4).render(state) == "sees ♣   truth: the answer is ♥"
    game = autoencode.Autoencode()
    assert game.render(state) == "sees watch ♣   truth: card 5 of 52, no answer yet"
    assert game.render(state._replace(t=I(102))) == "sees play ♠   truth: the answer is ♦"
    assert game.render(state._replace(t=I(103))).endswith("all cards are named")
    reference = AutoencodeReference()
    assert reference.render(state) == "sees nothing   truth: no answer yet"
    assert reference.render(state._replace(t=I(103))) == "sees ♠   truth: the answer is ♦"
    state = repeat_first.State(cards(9, 10, 12), I(0))
    expected = "sees 10   truth: 2 higher and 49 lower cards are left, J is next"
    assert higher_lower.HigherLower().render(state) == expected
    state = count_recall.State(cards(0, 1), cards(1, 0), np.array([1, 0]), I(0))
    expected = "sees black, asked for red   truth: red was shown 0 times"
    assert count_recall.CountRecall().render(state) == expected
    state = state._replace(counts=np.array([1, 1]), t=I(1))
    assert count_recall.CountRecall().render(state).endswith("black was shown once")


def test_boards():
    down = np.zeros(52, bool)
    visible = down.copy()
    visible[[0, 14]] = True
    deck = np.arange(52, dtype=np.int8) % 13
    state = concentration.State(deck, down, visible, I(0), I(1))
    lines = concentration.Concentration(1, 13).render(state).splitlines()
    assert lines[0].split() == ["sees", "truth"]
    assert lines[1] == "A · · · · · · · · · · · ·   A 2 3 4 5 6 7 8 9 T J Q K"
    assert lines[2].startswith("· 2 ·")
    ships, shot = np.zeros(64, bool), np.zeros(64, bool)
    ships[:2], shot[1:3] = True, True
    state = battleship.State(ships, shot, I(1), np.bool(False), I(2))
    lines = battleship.Battleship().render(state).splitlines()
    assert lines[1] == "a miss   ■ ✗ ○ · · · · ·"
    mines, opened = np.zeros(16, bool), np.zeros(16, bool)
    mines[0], opened[1] = True, True
    state = minesweeper.State(mines, np.ones(16, np.int8), opened, np.int8(1), I(1))
    assert minesweeper.MineSweeper().render(state).splitlines()[1] == "1 around   * 1 · ·"
    state = multiarmed_bandit.State(None, np.array([0.25, 0.5]), I(1), np.bool(True))
    expected = "sees paid   truth: arms pay with probability 0.25 0.50"
    assert multiarmed_bandit.MultiarmedBandit(2).render(state) == expected


def test_a_maze():
    grid = np.array([[1, 2, 1], [1, 0, 1], [1, 3, 1]], np.int8)
    explored = np.zeros((3, 3), bool)
    state = labyrinth.State(grid, np.array([1, 1]), explored, I(3), I(1))
    lines = LabyrinthEscape(1).render(state).splitlines()
    assert lines == [
        "sees            truth",
        "█S█             █S█",
        "█ █             █@█",
        "█G█             █G█",
        "last action ↓",
    ]


@pytest.mark.parametrize("name", ["RepeatFirstEasy", "NoisyPositionOnlyCartPoleEasy"])
@pytest.mark.parametrize("policy", ["random", "optimal"])
def test_an_episode_from_reset_to_end(name, policy):
    lines = list(transcript(make(name), policy, seed=0))
    assert lines[0].startswith("reset ") and "truth: " in lines[0]
    rewards = [float(re.search(r"reward ([+-]\d\.\d+)", line)[1]) for line in lines[1:-1]]
    found = re.fullmatch(r"(\w+) after (\d+) steps, return ([+-]\d\.\d+)", lines[-1])
    assert int(found[2]) == len(rewards)
    assert float(found[3]) == pytest.approx(sum(rewards), abs=0.01)
    if policy == "optimal":
        assert float(found[3]) == pytest.approx(1, abs=1e-4)
    assert list(transcript(make(name), policy, seed=0)) == lines
    assert list(transcript(make(name), policy, seed=1)) != lines


@pytest.mark.parametrize(
    ("name", "fidelity", "end"),
    [
        ("AutoencodeEasy", "exact", "terminated after 103 steps, return +1.0000"),
        ("CountRecallEasy", "reference", "terminated after 52 steps, return -0."),
        ("AutoencodeEasy", "reference", "terminated after 105 steps, return +1.0192"),
        ("MultiarmedBanditEasy", "exact", "truncated after 200 steps, return +0."),
    ],
)
def test_whole_episodes_can_be_rendered(name, fidelity, end):
    lines = list(transcript(make(name, fidelity), "optimal", seed=0))
    assert lines[-1].startswith(end)


def test_an_episode_can_be_broken_off():
    lines = list(transcript(make("PositionOnlyPendulumEasy"), "random", seed=0, steps=3))
    assert len(lines) == 5 and lines[-1].startswith("broken off after 3 steps, return so far")


def test_a_policy_that_is_not_known():
    with pytest.raises(ValueError, match="no optimal policy of PositionOnlyPendulum is known"):
        transcript(make("PositionOnlyPendulumEasy"), "optimal", 0)
    with pytest.raises(ValueError, match="policy must be random or optimal, not 'greedy'"):
        transcript(make("RepeatFirstEasy"), "greedy", 0)


def test_a_state_from_jax_renders_too():
    state, _ = make("HigherLowerEasy").reset(jax.random.key(0))
    assert isinstance(state.deck, jnp.ndarray)
    assert make("HigherLowerEasy").render(state).startswith("sees ")
