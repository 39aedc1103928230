"""The target of the reacher: new in every episode, shown once, and told by nothing else."""

import base64
import html
import json
import re
import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.cli import main
from untruncated.environments.reacher_pomdp import ReacherPOMDP, ReacherShown
from untruncated.environments.wrappers import (
    AutoReset,
    CheckActions,
    LastActionAndReward,
    NormaliseObservations,
)

HIDDEN = np.array([4, 5, 8, 9, 10])
SHOWN = np.array([0, 1, 2, 3, 6, 7])


def played(environment, steps, key=0):
    """Observations, rewards, ends and states of a random agent, after the reset's."""
    rng = np.random.default_rng(0)
    state, first = environment.reset(jax.random.key(key))
    steps_of, states = [first], [state]
    for _ in range(steps):
        action = jnp.asarray(rng.uniform(-1, 1, 2), jnp.float32)
        state, shown = environment.step(state, action)
        steps_of.append(shown)
        states.append(state)
    return jax.tree.map(lambda *leaves: np.stack(leaves), *steps_of), states


def test_the_target_is_shown_at_first_and_hidden_afterwards(brax_programs):
    shown, states = played(ReacherPOMDP(), 20)
    full = np.stack([state.full_observation for state in states])
    np.testing.assert_array_equal(shown.observation[0], full[0])
    np.testing.assert_array_equal(shown.observation[1:, SHOWN], full[1:, SHOWN])
    np.testing.assert_array_equal(shown.observation[1:, HIDDEN], 0)
    # There is something to hide: the target stays where it is.
    np.testing.assert_allclose(full[:, 4:6], np.broadcast_to(full[0, 4:6], (21, 2)), atol=1e-6)
    assert np.abs(full[1:][:, [4, 5, 8, 9]]).min() > 0


def test_with_the_target_in_sight_all_is_shown_and_all_else_is_the_same(brax_programs):
    hidden, _ = played(ReacherPOMDP(), 5)
    shown, states = played(ReacherShown(), 5)
    full = np.stack([state.full_observation for state in states])
    np.testing.assert_array_equal(shown.observation, full)
    np.testing.assert_array_equal(shown.reward, hidden.reward)
    assert LastActionAndReward(ReacherShown()).observation_size == 11 + 2 + 1


def test_every_episode_has_a_target_of_its_own_shown_in_its_first_observation(brax_programs):
    shown, states = played(AutoReset(ReacherPOMDP(episode_length=2)), 160)
    first = np.append(True, shown.truncated[1:])
    assert first.sum() == 81
    np.testing.assert_array_equal(shown.observation[~first][:, HIDDEN], 0)
    targets = shown.observation[first][:, 4:6]
    inside = np.stack([state.inner.full_observation for state in states])
    np.testing.assert_array_equal(targets, inside[first][:, 4:6])
    assert len(np.unique(targets, axis=0)) == 81
    # Uniform in distance up to 0.2 and in angle.
    distance = np.linalg.norm(targets, axis=1)
    assert distance.max() < 0.2 and abs(distance.mean() - 0.1) < 4 * 0.2 / np.sqrt(12 * 81)
    assert np.linalg.norm((targets / distance[:, None]).mean(axis=0)) < 4 / np.sqrt(81)
    # What an episode showed last hides its target as well.
    last = shown.final_observation[1:]
    np.testing.assert_array_equal(last[:, HIDDEN], 0)


def test_the_reference_has_one_target_for_all_episodes(brax_programs):
    shown, _ = played(AutoReset(ReacherPOMDP("reference", episode_length=2)), 10)
    first = np.append(True, shown.truncated[1:])
    targets = shown.observation[first][:, 4:6]
    np.testing.assert_array_equal(targets, np.broadcast_to(targets[0], targets.shape))


def test_no_observation_depends_on_the_target_after_the_first(brax_programs):
    environment = ReacherPOMDP()
    start, _ = environment.reset(jax.random.key(1))
    moved = jax.tree.map(jnp.asarray, start.physics)
    # The same arm, and the target elsewhere: its coordinates and the place of its body.
    offset = jnp.array([0.07, -0.11])
    moved = moved.replace(
        q=moved.q.at[2:].add(offset),
        x=moved.x.replace(pos=moved.x.pos.at[2, :2].add(offset)),
        x_i=moved.x_i.replace(pos=moved.x_i.pos.at[2, :2].add(offset)),
    )
    one, other = start, start._replace(physics=moved)
    rng = np.random.default_rng(0)
    for _ in range(25):
        action = jnp.asarray(rng.uniform(-1, 1, 2), jnp.float32)
        one, shown = environment.step(one, action)
        other, elsewhere = environment.step(other, action)
        np.testing.assert_array_equal(shown.observation, elsewhere.observation)
        np.testing.assert_allclose(
            other.full_observation[4:6] - one.full_observation[4:6], offset, atol=1e-5
        )
        # The reward alone tells: that is why it must not be appended.
        assert abs(shown.reward - elsewhere.reward) > 1e-4


def test_normalised_what_is_hidden_stays_0_and_is_no_sample(brax_programs):
    environment = NormaliseObservations(AutoReset(ReacherPOMDP(episode_length=3)))
    shown, states = played(environment, 12)
    first = np.arange(13) % 3 == 0
    targets = np.stack([state.inner.inner.full_observation[4:6] for state in states])[first]
    assert len(np.unique(targets, axis=0)) == 5
    np.testing.assert_array_equal(shown.observation[~first][:, HIDDEN], 0)
    # A target is shown in deviations of the targets so far, not of targets and zeros.
    expected = [
        (targets[i] - targets[: i + 1].mean(0)) / np.sqrt(targets[: i + 1].var(0) + 1e-8)
        for i in range(5)
    ]
    np.testing.assert_allclose(shown.observation[first][:, 4:6], expected, atol=2e-3)
    moments = states[-1].moments
    np.testing.assert_array_equal(moments.count[HIDDEN], 5)
    np.testing.assert_array_equal(moments.count[SHOWN], 13)


@pytest.mark.parametrize("fidelity", ["exact", "reference"])
def test_a_hidden_target_stays_0_under_either_normalisation(brax_programs, fidelity):
    environment = NormaliseObservations(CheckActions(ReacherPOMDP()), fidelity)
    shown, _ = played(environment, 3)
    np.testing.assert_array_equal(shown.observation[1:, HIDDEN], 0)
    assert (shown.observation[1:, SHOWN] != 0).all()


@pytest.mark.parametrize("wrap", [lambda game: game, CheckActions], ids=["plain", "wrapped"])
def test_the_reward_cannot_be_appended(wrap):
    environment = wrap(ReacherPOMDP())
    with pytest.raises(ValueError, match="reward tells what its observation hides"):
        LastActionAndReward(environment)
    assert LastActionAndReward(environment, reward=False).observation_size == 13


def test_the_action_is_appended_alone(brax_programs):
    environment = LastActionAndReward(ReacherPOMDP(), reward=False)
    state, first = environment.reset(jax.random.key(0))
    _, shown = environment.step(state, jnp.array([0.25, -0.5]))
    np.testing.assert_array_equal(first.observation[11:], 0)
    np.testing.assert_array_equal(shown.observation[11:], [0.25, -0.5])
    np.testing.assert_array_equal(shown.observation[HIDDEN], 0)


def test_it_is_shown_as_a_page(brax_programs, tmp_path, capsys):
    path = tmp_path / "new" / "page.html"
    assert main(["show", "reacher", "--steps", "2", "--output", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Reacher POMDP: ")
    assert "sees:     cos joint0, " in out and "truth qd: " in out
    assert "broken off after 2 steps, return so far -" in out
    assert out.splitlines()[-1].startswith(f"{path}: an animation")
    text = path.read_text(encoding="ascii")
    assert "brax-viewer" in text
    # The animation has the reset and both steps; below, what is seen stands above what is true.
    packed = re.search(r'var system = "([^"]*)"', text)[1]
    states = json.loads(zlib.decompress(base64.b64decode(packed)))["states"]["x"]
    assert len(states) == 3
    lines = html.unescape(text[text.index("<pre>") : text.index("</pre>")]).splitlines()
    (last,) = (place for place, line in enumerate(lines) if line.startswith("step 2: "))
    seen = np.array(lines[last + 1].split()[1:], float)
    q = np.array(lines[last + 2].split()[2:], float)
    np.testing.assert_array_equal(seen[HIDDEN], 0)
    np.testing.assert_allclose(seen[:4], [*np.cos(q[:2]), *np.sin(q[:2])], atol=2e-3)
    np.testing.assert_allclose(states[2]["pos"][2][:2], q[2:], atol=2e-3)
