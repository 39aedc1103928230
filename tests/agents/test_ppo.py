"""PPO: ratios, gradients, bootstraps and norms against their definitions, and what it learns."""

from functools import partial

import agents_at_work as at_work
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from untruncated.agents.memories import TraceMemory, WindowMemory
from untruncated.agents.ppo import PPO, Minibatch, Targets, loss, start, targets, update
from untruncated.agents.rollouts import next_values, remembered_again
from untruncated.cells import GRU, Feedforward, LinearRTU, NonlinearRTU
from untruncated.environments.diagnostics import DIAGNOSTICS
from untruncated.environments.popgym import make
from untruncated.environments.wrappers import (
    AutoReset,
    LastActionAndReward,
    NormaliseObservations,
    ScaleRewards,
)

STEPS = 64


def game(name="CountRecallEasy"):
    """Episodes of 51 steps, statistics that change at every step."""
    return ScaleRewards(NormaliseObservations(AutoReset(LastActionAndReward(make(name)))))


def minibatch(agent, rollout, aims, first, units):
    index = (first + jnp.arange(units))[:, None] * agent.memory.unit + jnp.arange(agent.memory.unit)
    plain = rollout._replace(remembered=(), shown=())
    return Minibatch(index, *jax.tree.map(lambda leaf: leaf[index.reshape(-1)], (plain, aims)))


def past_of(agent, params, stage, rollout):
    x = agent.encode(params, rollout.observation)
    return agent.memory.past(params.memory, stage.carry, rollout.remembered, x, rollout.fresh)


@pytest.mark.parametrize("name", at_work.MEMORIES)
def test_the_first_ratio_is_one_with_normalisation_and_across_episodes(name):
    memory = at_work.MEMORIES[name]
    agent, params, stage, _, rollout = at_work.one_rollout(game(), memory, STEPS, before=40)
    assert 0 < int(rollout.fresh.sum()) and not bool(rollout.fresh[0])
    ppo = PPO(rollout=STEPS)
    aims = targets(ppo, agent, params, rollout)
    batch = minibatch(agent, rollout, aims, 0, STEPS // memory.unit)
    past = past_of(agent, params, stage, rollout)
    x = agent.encode(params, batch.rollout.observation).reshape(*batch.index.shape, -1)
    derived = memory.derive(params.memory)
    features = memory.replay(params.memory, derived, past, batch.index, x).reshape(STEPS, -1)
    log_prob = agent.policy.log_prob(
        agent.act(params, features), params.log_std, batch.rollout.action
    )
    np.testing.assert_allclose(jnp.exp(log_prob - batch.rollout.log_prob), 1, rtol=2e-6)
    _, (kl, fraction, _) = loss(ppo, agent, past, batch, params)
    assert abs(float(kl)) < 1e-6 and float(fraction) == 0


@pytest.mark.parametrize("memory", [LinearRTU(64, 6), NonlinearRTU(64, 6)], ids=["linear", "non"])
@pytest.mark.parametrize("storage", ["stored", "recompute"])
def test_one_minibatch_of_the_whole_rollout_has_the_gradient_of_bptt(memory, storage):
    with jax.enable_x64(True):
        agent, params, stage, _, rollout = at_work.one_rollout(
            game(), TraceMemory(memory, storage), STEPS
        )
        ppo = PPO(rollout=STEPS, minibatches=1, epochs=1)
        aims = targets(ppo, agent, params, rollout)
        batch = minibatch(agent, rollout, aims, 0, STEPS)
        past = past_of(agent, params, stage, rollout)
        found = jax.grad(lambda p: loss(ppo, agent, past, batch, p)[0])(params)
        # The same loss on a window as long as the rollout.
        whole = agent.__class__(
            agent.observation_size, WindowMemory(agent.memory.cell, STEPS), agent.policy
        )
        window = whole.memory.past(
            params.memory,
            None,
            rollout.remembered._replace(entering=rollout.remembered.entering.state),
            None,
            rollout.fresh,
        )
        batch = batch._replace(index=jnp.arange(STEPS)[None])
        exact = jax.grad(lambda p: loss(ppo, whole, window, batch, p)[0])(params)
        for part in ("memory", "actor", "critic", "actor_hidden", "critic_hidden"):
            for a, b in zip(
                jax.tree.leaves(getattr(found, part)),
                jax.tree.leaves(getattr(exact, part)),
                strict=True,
            ):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max())


def test_a_time_limit_is_valued_as_without_a_restart():
    task = make("PositionOnlyPendulumHard")  # ends by its limit of 100 steps alone
    memory = TraceMemory(LinearRTU(64, 6))
    agent, params, _, _, rollout = at_work.one_rollout(AutoReset(task), memory, 130)
    (end,) = np.flatnonzero(rollout.shown.truncated)
    assert end == 99 and not bool(rollout.shown.terminated.any())
    found = next_values(agent, params, rollout)

    # Without a restart: the same start, the same actions, the memory on all that is shown.
    keys = jax.random.split(jax.random.key(0), 2)
    start_key, _ = jax.random.split(keys[1])
    state, shown = task.reset(jax.random.fold_in(start_key, 0))
    derived, carry = memory.derive(params.memory), memory.initial_carry()
    for action in rollout.action[:100]:
        x = agent.encode(params, shown.observation)
        carry, _ = memory.step(params.memory, derived, carry, x)
        state, shown = task.step(state, action)
    x = agent.encode(params, shown.observation)
    _, features = memory.step(params.memory, derived, carry, x)
    np.testing.assert_allclose(found[end], agent.value(params, features), rtol=1e-4)
    # It is not that of the next episode's start, and between ends it is that of the next step.
    assert abs(float(found[end] - rollout.value[end + 1])) > 1e-3
    others = np.delete(np.arange(129), end)
    np.testing.assert_allclose(found[others], rollout.value[others + 1], rtol=1e-3, atol=1e-5)
    # What it earns: the advantage at the limit has the value, that at a termination does not.
    ppo = PPO(rollout=130)
    ended = rollout._replace(
        shown=rollout.shown._replace(
            terminated=rollout.shown.truncated, truncated=rollout.shown.terminated
        )
    )
    limit, rules = (targets(ppo, agent, params, r).advantages[end] for r in (rollout, ended))
    np.testing.assert_allclose(limit - rules, ppo.discount * found[end], rtol=1e-4)


def test_one_huge_coordinate_is_clipped_by_the_norm_of_all():
    ppo = PPO(largest_norm=0.5)
    gradient = {"a": jnp.array([3e4, 4.0]), "b": jnp.array([0.3])}
    clipped, _ = optax.clip_by_global_norm(ppo.largest_norm).update(gradient, optax.EmptyState())
    size = optax.global_norm(gradient)
    jax.tree.map(
        lambda c, g: np.testing.assert_allclose(c, g * 0.5 / size, rtol=1e-6), clipped, gradient
    )
    # Adam sees the clipped gradient: its first moment is a tenth of that.
    state = ppo.optimiser.init(gradient)
    _, state = ppo.optimiser.update(gradient, state, gradient, step_size=1.0)
    moment = optax.tree_utils.tree_get(state, "mu")
    jax.tree.map(lambda m, c: np.testing.assert_allclose(m, 0.1 * c, rtol=1e-6), moment, clipped)


def test_the_loss_is_that_of_the_definition():
    memory = WindowMemory(Feedforward(64, 16), 1)
    agent, params, stage, _, rollout = at_work.one_rollout(game(), memory, STEPS)
    ppo = PPO(rollout=STEPS, entropy_coefficient=0.1, clip=0.2)
    rng = np.random.default_rng(0)
    # Old numbers that differ from today's by more than the clip allows, in both directions.
    rollout = rollout._replace(
        log_prob=rollout.log_prob + rng.normal(size=STEPS) * 0.4,
        value=rollout.value + rng.normal(size=STEPS) * 0.4,
    )
    aims = Targets(jnp.asarray(rng.normal(size=STEPS)), jnp.asarray(rng.normal(size=STEPS)))
    batch = minibatch(agent, rollout, aims, 0, STEPS)
    past = past_of(agent, params, stage, rollout)
    found, (kl, fraction, entropy) = loss(ppo, agent, past, batch, params)

    x = agent.encode(params, rollout.observation)
    features = jax.nn.relu(x @ params.memory.w + params.memory.b)
    logits, values = (np.asarray(head(params, features)) for head in (agent.act, agent.value))
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    new = probabilities[np.arange(STEPS), np.asarray(rollout.action)]
    ratios = new / np.exp(np.asarray(rollout.log_prob))
    advantages = (aims.advantages - np.mean(aims.advantages)) / (np.std(aims.advantages) + 1e-8)
    total, clipped = 0.0, 0
    for r, a, v, old, g, p in zip(
        ratios, advantages, values, rollout.value, aims.returns, probabilities, strict=True
    ):
        total -= min(r * a, np.clip(r, 0.8, 1.2) * a)
        held = old + np.clip(v - old, -0.2, 0.2)
        total += 0.5 * 0.5 * max((v - g) ** 2, (held - g) ** 2)
        total += 0.1 * np.sum(p * np.log(p))
        clipped += abs(r - 1) > 0.2
    np.testing.assert_allclose(found, total / STEPS, rtol=1e-5)
    np.testing.assert_allclose(fraction, clipped / STEPS)
    np.testing.assert_allclose(kl, np.mean(ratios - 1 - np.log(ratios)), rtol=1e-4)
    np.testing.assert_allclose(
        entropy, np.mean(-np.sum(probabilities * np.log(probabilities), -1)), rtol=1e-5
    )
    assert 0.2 < clipped / STEPS < 0.9


@pytest.mark.parametrize("name", ["linear_rtu", "gru, windows"])
def test_an_update_moves_by_as_many_steps_as_there_are_minibatches(name):
    memory = at_work.MEMORIES[name]
    ppo = PPO(rollout=STEPS, minibatches=4, epochs=3)
    agent, _, stage, _, rollout = at_work.one_rollout(game(), memory, STEPS)
    learner = start(ppo, agent, jax.random.key(1))
    step = jax.jit(partial(update, ppo, agent))
    after, statistics = step(learner, rollout, stage.carry, jax.random.key(2), 1e-3)
    assert int(optax.tree_utils.tree_get(after.opt_state, "count")) == 12
    assert float(statistics.kl) > 0
    still, _ = step(learner, rollout, stage.carry, jax.random.key(2), 0.0)
    jax.tree.map(np.testing.assert_array_equal, still.params, learner.params)


@pytest.mark.parametrize("task", DIAGNOSTICS)
def test_a_recurrent_agent_solves_the_diagnostics(task):
    environment = DIAGNOSTICS[task]
    updates = 120 if task == "two_arms" else 40
    found = at_work.trained(environment, TraceMemory(LinearRTU(64, 16)), updates=updates)
    assert float(found.min()) > environment.optimal_return - 0.2


@pytest.mark.parametrize(("task", "memoryless"), [("cue_recall", 0.0), ("two_arms", 2.0)])
def test_windows_solve_what_needs_memory_and_no_memory_fails(task, memoryless):
    environment = DIAGNOSTICS[task]
    by_windows = at_work.trained(environment, WindowMemory(GRU(64, 16), 8), updates=120)
    assert float(by_windows.min()) > environment.optimal_return - 0.2
    without = at_work.trained(environment, WindowMemory(Feedforward(64, 16), 1), updates=120)
    assert float(without.max()) < memoryless + 0.4


def test_a_time_limit_may_be_taken_for_a_termination():
    task, memory = make("PositionOnlyPendulumHard"), at_work.MEMORIES["linear_rtu"]
    agent, params, _, _, rollout = at_work.one_rollout(AutoReset(task), memory, 130)
    exact, reference = (
        targets(PPO(rollout=130, time_limits=name), agent, params, rollout).advantages
        for name in ("truncation", "termination")
    )
    value = next_values(agent, params, rollout)[99]
    np.testing.assert_allclose(exact[99] - reference[99], 0.99 * value, rtol=1e-4)
    np.testing.assert_allclose(exact[100:], reference[100:], rtol=1e-6)


@pytest.mark.parametrize("name", ["linear_rtu", "linear_rtu, stored", "gru, windows"])
def test_what_is_remembered_again_with_the_same_parameters_is_the_same(name):
    memory = at_work.MEMORIES[name]
    agent, params, stage, _, rollout = at_work.one_rollout(game(), memory, STEPS, before=40)
    again = remembered_again(agent, params, rollout, stage.carry)
    for a, b in zip(
        jax.tree.leaves((again.remembered, again.value)),
        jax.tree.leaves((rollout.remembered, rollout.value)),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def one_step(ppo, agent, learner, past, seen, numbers):
    rollout, aims = seen
    plain = rollout._replace(remembered=(), shown=())
    batch = Minibatch(numbers[:, None], *jax.tree.map(lambda leaf: leaf[numbers], (plain, aims)))
    gradient = jax.grad(lambda p: loss(ppo, agent, past, batch, p)[0])(learner.params)
    change, opt_state = ppo.optimiser.update(
        gradient, learner.opt_state, learner.params, step_size=3e-3
    )
    params = agent.constrain(optax.apply_updates(learner.params, change))
    return learner._replace(params=params, opt_state=opt_state)


@pytest.mark.parametrize("refreshed", [("traces",), ("targets",), ("traces", "targets")])
def test_refreshing_before_each_epoch_is_exact_replay(refreshed):
    """Epochs written out one by one, each seeing the rollout as these parameters would have."""
    memory = at_work.MEMORIES["linear_rtu"]
    fields = {f"refresh_{name}": True for name in refreshed}
    ppo = PPO(rollout=STEPS, minibatches=2, epochs=3, **fields)
    agent, _, stage, _, rollout = at_work.one_rollout(game(), memory, STEPS)
    learner = start(ppo, agent, jax.random.key(1))
    found, _ = jax.jit(partial(update, ppo, agent))(
        learner, rollout, stage.carry, jax.random.key(2), 3e-3
    )
    aims = targets(ppo, agent, learner.params, rollout)
    past = past_of(agent, learner.params, stage, rollout)
    for key in jax.random.split(jax.random.key(2), 3):
        again = remembered_again(agent, learner.params, rollout, stage.carry)
        if "targets" in refreshed:
            aims = targets(ppo, agent, learner.params, again)
        if "traces" in refreshed:
            past = past_of(agent, learner.params, stage, again)
        for numbers in jax.random.permutation(key, STEPS).reshape(2, -1):
            learner = one_step(ppo, agent, learner, past, (rollout, aims), numbers)
    for a, b in zip(jax.tree.leaves(found.params), jax.tree.leaves(learner.params), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-5)
    # And it is not what stale traces and targets give.
    stale, _ = jax.jit(partial(update, PPO(rollout=STEPS, minibatches=2, epochs=3), agent))(
        start(ppo, agent, jax.random.key(1)), rollout, stage.carry, jax.random.key(2), 3e-3
    )
    apart = [
        float(jnp.abs(a - b).max())
        for a, b in zip(jax.tree.leaves(found.params), jax.tree.leaves(stale.params), strict=True)
    ]
    assert max(apart) > 1e-3
