"""What docs/environments.md says is earned, against random play, closed forms and known values."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.environments.popgym.registry import make

PAGE = (Path(__file__).parents[2] / "docs" / "environments.md").read_text()
EARNED = PAGE.partition("### What is known to be earned")[2].partition("\n###")[0]
REFERENCE = PAGE.partition("### As in the RTU paper's public code")[2].partition("\n###")[0]
LEVELS = ("Easy", "Medium", "Hard")


def said(text, before):
    """The numbers that follow some words."""
    found = re.search(re.escape(before) + r"((?:(?:,| and)? *-?\d\.\d+)+)", text)
    return [float(number) for number in re.findall(r"-?\d\.\d+", found[1])]


def at_random(name, episodes=1000, fidelity="exact"):
    """Mean return of random actions, and its standard error."""
    game = make(name, fidelity=fidelity)

    def episode(key):
        start, play = jax.random.split(key)
        state, _ = game.reset(start)

        def step(carry, t):
            state, ended = carry
            action = jax.random.randint(jax.random.fold_in(play, t), (), 0, game.actions)
            state, shown = game.step(state, action)
            reward = jnp.where(ended, 0, shown.reward)
            return (state, ended | shown.terminated | shown.truncated), reward

        carry = state, jnp.zeros((), bool)
        return jnp.sum(jax.lax.scan(step, carry, jnp.arange(game.longest))[1])

    options = {"xla_backend_optimization_level": 1}
    run = jax.jit(jax.vmap(episode), compiler_options=options)
    found = np.asarray(run(jax.random.split(jax.random.key(0), episodes)))
    return found.mean(), found.std() / np.sqrt(episodes)


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("family", ["RepeatFirst", "RepeatPrevious", "Autoencode", "CountRecall"])
def test_random_actions_earn_what_the_page_says(family, level):
    numbers = said(EARNED, "CountRecall ") if family == "CountRecall" else said(EARNED, "random ")
    expected = numbers[level] if family == "CountRecall" else numbers[0]
    mean, error = at_random(family + LEVELS[level])
    assert abs(mean - expected) < 4 * error + 0.005


def test_the_best_arm_is_worth_what_the_largest_of_so_many_is_on_average():
    row = next(line for line in EARNED.splitlines() if line.startswith("| MultiarmedBandit"))
    found = [float(number) for number in re.findall(r"\d\.\d+", row)]
    assert found == [round(2 * arms / (arms + 1) - 1, 3) for arms in (10, 20, 30)]
    assert [make(f"MultiarmedBandit{level}").actions for level in LEVELS] == [10, 20, 30]


def test_what_policies_earn_is_what_other_tests_know():
    """The values that `popgym/test_returns.py` holds the games to."""
    assert said(EARNED, "counting cards ") == [0.528, 0.516, 0.512]
    assert said(EARNED, "without memory ") == [0.497]
    assert said(EARNED, "known before: ") == [0.824, 0.819, 0.698]


@pytest.mark.parametrize("level", range(3))
def test_random_actions_in_the_public_codes_autoencode(level):
    expected = said(REFERENCE, "random actions earn ")[level]
    mean, error = at_random(f"Autoencode{LEVELS[level]}", 4000, "reference")
    assert abs(mean - expected) < 4 * error + 0.0005


def test_ceilings_of_the_public_codes_variants_are_those_that_other_tests_know():
    """The values that `popgym/test_reference.py` computes."""
    assert said(REFERENCE, "earns more than ") == [-0.849, -0.85, -0.764]
    assert said(REFERENCE, "see its rewards\n") == [-0.471, -0.486, -0.49]
