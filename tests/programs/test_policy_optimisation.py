"""Control runs: what is counted, what diverges, what a seed's numbers depend on."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.environments.wrappers import ClipActions
from untruncated.experiments.spec import resolve_run
from untruncated.programs.control import build_ppo, build_task
from untruncated.programs.policy_optimisation import (
    _bins,
    _carried_on,
    build,
    whole_steps,
)
from untruncated.running.checkpoints import Clock, State, identity_of, pack, unpack

ROLLOUT = 64


def spec(sizes=(1e-3, 3e-3), seeds=(3, 0, 5), steps=8 * ROLLOUT, learner=None, **fields):
    return resolve_run(
        {
            "program": "policy_optimisation",
            "steps": steps,
            "environment": "RepeatFirstEasy",
            "cell": {"name": "linear_rtu", "width": 4},
            "credit": "rtrl",
            "learner": {"name": "ppo", "rollout": ROLLOUT, "minibatches": 4, **(learner or {})},
            "step_sizes": list(sizes),
            "seeds": list(seeds),
            **fields,
        }
    ).fields


def program(**fields):
    resolved = spec(**fields)
    return build(resolved, resolved["step_sizes"], {})


def run(made, carry=None, steps=None):
    carry = made.init() if carry is None else carry
    for _ in range((made.total_steps if steps is None else steps) // made.chunk_steps):
        carry = made.advance(carry)
    return carry


def values(made, carry):
    return {name: metric.values for name, metric in made.metrics(carry).items()}


@functools.cache
def usual():
    made = program()
    return made, values(made, run(made))


def test_episodes_and_returns_are_counted_over_the_run():
    made, found = usual()
    assert made.axes["curve_step"] == [ROLLOUT * (n + 1) for n in range(8)]
    # An episode of RepeatFirst has 51 steps and a return between -1 and 1.
    episodes = found["episodes_curve"]
    assert (episodes.sum(-1) == 8 * ROLLOUT // 51).all()
    assert (np.abs(found["return"]) <= 1).all()
    # Bins in which no episode ended repeat the one before: they count for nothing.
    sums = np.where(episodes > 0, found["return_curve"] * episodes, 0).sum(-1)
    np.testing.assert_allclose(found["return"], sums / episodes.sum(-1), rtol=1e-5)
    np.testing.assert_allclose(found["best_return"], np.nanmax(found["return_curve"], -1))


def test_the_untrained_return_is_that_of_the_first_rollout():
    _, found = usual()
    np.testing.assert_array_equal(found["untrained_return"], found["return_curve"][..., 0])
    # Agents of a seed start alike at every learning rate, and differ afterwards.
    np.testing.assert_array_equal(found["untrained_return"][0], found["untrained_return"][1])
    assert (found["kl_curve"][0] != found["kl_curve"][1]).all()
    assert len(np.unique(found["value_curve"][0, :, 0])) == 3


def test_a_seed_has_the_same_numbers_alone_and_in_a_batch():
    _, found = usual()
    made = program(seeds=(0,), sizes=(3e-3,))
    alone = values(made, run(made))
    for name in ("kl_curve", "entropy_curve", "value_curve", "gradient_norm_curve"):
        np.testing.assert_allclose(alone[name][0, 0, :2], found[name][1, 1, :2], rtol=1e-3)
    np.testing.assert_array_equal(alone["episodes_curve"][0, 0], found["episodes_curve"][1, 1])


def test_from_a_checkpoint_the_numbers_are_byte_equal():
    made, found = usual()
    half = State(4 * ROLLOUT, run(made, steps=4 * ROLLOUT), Clock())
    identity = identity_of("this run", made.chunk_steps, half.carry)
    again = unpack(pack(half, identity), identity, State(0, made.init(), Clock()))
    for name, metric in values(made, run(made, again.carry, 4 * ROLLOUT)).items():
        assert metric.tobytes() == found[name].tobytes(), name


def test_what_diverges_is_recorded_and_has_no_return():
    made = program(sizes=(1e-3, 1e30), seeds=(0,))
    carry = run(made)
    (record,) = made.diverged(carry)
    assert (record["step_size"], record["seed"], record["step"]) == (1e30, 0, 0)
    assert record["reason"] == "the gradient is not finite"
    found = values(made, carry)
    assert np.isfinite(found["return"][0]).all() and np.isnan(found["return"][1]).all()
    assert np.isfinite(found["untrained_return"]).all()
    assert np.isnan(found["return_curve"][1, 0, 1:]).all()


def test_a_step_size_that_decays_is_zero_at_the_end():
    made = program(seeds=(0,), sizes=(3e-3,), learner={"decay_step_size": True})
    kept = values(*((p := program(seeds=(0,), sizes=(3e-3,))), run(p))[:2])
    found = values(made, run(made))
    np.testing.assert_allclose(found["kl_curve"][..., 0], kept["kl_curve"][..., 0], rtol=1e-5)
    assert (found["kl_curve"][..., -1] < 0.5 * kept["kl_curve"][..., -1]).all()


@pytest.mark.parametrize(
    ("updates", "bins"), [(1, 1), (7, 7), (60, 60), (146, 48), (976, 60), (1464, 60), (2441, 60)]
)
def test_bins_leave_out_few_updates(updates, bins):
    assert _bins(updates) == bins
    kept = whole_steps(updates * 2048 + 5, 2048)
    assert kept == updates // bins * bins * 2048
    assert 0.98 * updates * 2048 <= kept <= updates * 2048


@pytest.mark.parametrize("updates", [61, 127, 131, 197])
def test_few_updates_are_left_out_whatever_their_number(updates):
    assert whole_steps(updates * 8, 8) >= 0.95 * updates * 8


def test_bins_without_an_episode_repeat_the_one_before():
    nan = np.nan
    curve = np.array([[nan, 1.0, nan, nan, 2.0], [3.0, nan, 4.0, nan, nan]])
    expected = [[nan, 1.0, 1.0, 1.0, 2.0], [3.0, 3.0, 4.0, 4.0, 4.0]]
    np.testing.assert_array_equal(_carried_on(curve), expected)


def test_the_reference_differs_in_every_part():
    fields = {"environment": "hopper-P", "normalise": "observations_and_rewards"}
    exact, reference = (spec(fidelity=name, **fields) for name in ("exact", "reference"))
    tasks = [build_task(fields) for fields in (exact, reference)]
    assert all(isinstance(task, ClipActions) for task in tasks)
    assert [task.bound for task in tasks] == [None, 2.0]
    normalisers = [task.environment.environment for task in tasks]
    assert [n.fidelity for n in normalisers] == ["exact", "reference"]
    robots = [n.environment.environment.environment for n in normalisers]
    assert [robot.fidelity for robot in robots] == ["exact", "reference"]
    assert [build_ppo(f).time_limits for f in (exact, reference)] == ["truncation", "termination"]
    agents = [build(f, [1e-3], {}).agent for f in (exact, reference)]
    assert [agent.memory.cell.fidelity for agent in agents] == ["exact", "reference"]


def test_an_action_is_clipped_to_the_bound_before_it_is_carried_out():
    class Echo:
        actions, action_size, action_bound, observation_size = None, 2, 1.0, 2

        def step(self, state, action):
            return state, action

    beyond = jnp.array([3.0, -1.5])
    np.testing.assert_array_equal(ClipActions(Echo()).step((), beyond)[1], [1, -1])
    np.testing.assert_array_equal(ClipActions(Echo(), 2.0).step((), beyond)[1], [2, -1.5])


def test_agents_of_all_cells_have_as_many_recurrent_parameters():
    cells = {
        "linear_rtu": 192,
        "nonlinear_rtu": 192,
        "lru": 83,
        "block_diagonal": 189,
        "gru": 64,
        "feedforward": 384,
    }
    for name, width in cells.items():
        credit = "rtrl" if name not in ("gru", "feedforward") else None
        credit = credit or {"name": "truncated_bptt", "truncation": 1}
        made = program(cell={"name": name, "width": width}, credit=credit)
        params = jax.eval_shape(made.agent.init, jax.random.key(0)).memory
        assert abs(sum(leaf.size for leaf in jax.tree.leaves(params)) - 24_900) < 300, name
