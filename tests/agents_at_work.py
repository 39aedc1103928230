"""Small agents with every kind of memory, and rollouts and training for tests of PPO."""

from functools import partial

import jax
import jax.numpy as jnp

from untruncated.agents.actor_critic import ActorCritic
from untruncated.agents.memories import TraceMemory, WindowMemory
from untruncated.agents.policies import Categorical, DiagonalGaussian
from untruncated.agents.ppo import PPO, start, update
from untruncated.agents.rollouts import collect, first_stage
from untruncated.cells import GRU, LRU, BlockDiagonal, Feedforward, LinearRTU, NonlinearRTU
from untruncated.environments.wrappers import AutoReset, EpisodeStatistics

MEMORIES = {
    "none": WindowMemory(Feedforward(64, 16), 1),
    "linear_rtu, stored": TraceMemory(LinearRTU(64, 6), "stored"),
    "linear_rtu": TraceMemory(LinearRTU(64, 6)),
    "nonlinear_rtu": TraceMemory(NonlinearRTU(64, 6)),
    "online lru": TraceMemory(LRU(64, 6, activation="relu")),
    "block_diagonal": TraceMemory(BlockDiagonal(64, 6, r_max=0.9)),
    "gru, windows": WindowMemory(GRU(64, 6), 8),
    "linear_rtu, windows": WindowMemory(LinearRTU(64, 6), 8),
}


def agent_for(environment, memory):
    """An agent that fits the environment."""
    real = environment.actions is None
    policy = DiagonalGaussian(environment.action_size) if real else Categorical(environment.actions)
    return ActorCritic(environment.observation_size, memory, policy)


def trained(environment, memory, ppo=None, updates=40, step_size=2e-3, seeds=3):
    """The mean return of the episodes in the last tenth of the updates, of each seed."""
    ppo = ppo or PPO(rollout=256, minibatches=8, discount=0.95)
    environment = EpisodeStatistics(AutoReset(environment))
    agent = agent_for(environment, memory)

    def run(seed):
        keys = jax.random.split(jax.random.key(seed), 3)

        def one(carry, key):
            learner, stage = carry
            after, rollout, _ = collect(agent, environment, learner.params, stage, ppo.rollout)
            learner, _ = update(ppo, agent, learner, rollout, stage.carry, key, step_size)
            ends = rollout.shown.terminated | rollout.shown.truncated
            return (learner, after), (rollout.shown.reward.sum(), ends.sum())

        carry = start(ppo, agent, keys[0]), first_stage(agent, environment, keys[1])
        _, (rewards, ends) = jax.lax.scan(one, carry, jax.random.split(keys[2], updates))
        last = -(-updates // 10)
        return rewards[-last:].sum() / ends[-last:].sum()

    return jax.jit(jax.vmap(run))(jnp.arange(seeds))


def one_rollout(environment, memory, steps, before=0, seed=0):
    """An agent, its parameters, and a rollout of `steps` after `before` other steps."""
    agent = agent_for(environment, memory)
    keys = jax.random.split(jax.random.key(seed), 2)
    params = agent.init(keys[0])
    stage = first_stage(agent, environment, keys[1])
    acts = jax.jit(partial(collect, agent, environment), static_argnums=2)
    if before:
        stage, *_ = acts(params, stage, before)
    after, rollout, _ = acts(params, stage, steps)
    return agent, params, stage, after, rollout
