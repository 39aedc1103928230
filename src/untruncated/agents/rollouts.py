"""An agent acts for some steps, and what it will learn from is kept."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from untruncated.agents.actor_critic import ActorCritic, Parameters
from untruncated.agents.memories import Remembered
from untruncated.environments.protocol import Environment, TimeStep


class Stage(NamedTuple):
    """Where one environment and its agent stand between two steps.

    `observation` is what the agent sees next; `fresh` says whether it is an episode's first, so
    that the memory starts from zero; `carry` is the memory's, of the step before.
    """

    environment: Any
    observation: Float[Array, " observation"]
    fresh: Bool[Array, ""]
    carry: Any
    key: PRNGKeyArray


class Rollout(NamedTuple):
    """Steps of one environment, each with what was known when its action was chosen.

    All have a leading axis of steps. `shown` is what the step showed: reward, flags and the final
    observation, whose value counts where the step did not end the episode by the rules.
    """

    observation: Float[Array, "steps observation"]
    fresh: Bool[Array, " steps"]
    action: Array
    log_prob: Float[Array, " steps"]
    value: Float[Array, " steps"]
    entropy: Float[Array, " steps"]
    shown: TimeStep
    remembered: Remembered


def first_stage(agent: ActorCritic, environment: Environment, key: PRNGKeyArray) -> Stage:
    """Before the first step of a run."""
    environment_key, key = jax.random.split(key)
    state, shown = environment.reset(environment_key)
    carry = agent.memory.initial_carry()
    return Stage(state, shown.observation, jnp.ones((), bool), carry, key)


def collect(
    agent: ActorCritic,
    environment: Environment,
    params: Parameters,
    stage: Stage,
    steps: int,
    measure: Callable[[Any], Any] = lambda state: (),
) -> tuple[Stage, Rollout, Any]:
    """Acts for `steps` steps with the same parameters.

    Args:
        environment: One that restarts by itself, as `wrappers.AutoReset` does.
        measure: What is asked of the environment's state after each step.

    Returns:
        The stage after the steps; the steps; what was measured.
    """
    derived = agent.memory.derive(params.memory)

    def step(stage: Stage, _: None) -> tuple[Stage, tuple[Rollout, Any]]:
        key, draw = jax.random.split(stage.key)
        zero = agent.memory.initial_carry()
        entering = jax.tree.map(partial(jnp.where, stage.fresh), zero, stage.carry)
        x = agent.encode(params, stage.observation)
        carry, features = agent.memory.step(params.memory, derived, entering, x)
        outputs = agent.act(params, features)
        action = agent.policy.sample(draw, outputs, params.log_std)
        state, shown = environment.step(stage.environment, action)
        kept = Rollout(
            observation=stage.observation,
            fresh=stage.fresh,
            action=action,
            log_prob=agent.policy.log_prob(outputs, params.log_std, action),
            value=agent.value(params, features),
            entropy=agent.policy.entropy(outputs, params.log_std),
            shown=shown._replace(observation=()),
            remembered=agent.memory.remember(entering, carry),
        )
        ended = shown.terminated | shown.truncated
        return Stage(state, shown.observation, ended, carry, key), (kept, measure(state))

    after, (rollout, measured) = jax.lax.scan(step, stage, None, length=steps)
    return after, rollout, measured


def remembered_again(
    agent: ActorCritic, params: Parameters, rollout: Rollout, start: Any
) -> Rollout:
    """The rollout with the memory and the values that these parameters would have had in it.

    Args:
        start: What was carried into the rollout by the memory.
    """
    derived = agent.memory.derive(params.memory)
    x = agent.encode(params, rollout.observation)

    def step(carry: Any, inputs: tuple[Array, Array]) -> tuple[Any, tuple[Remembered, Array]]:
        x, fresh = inputs
        zero = agent.memory.initial_carry()
        entering = jax.tree.map(partial(jnp.where, fresh), zero, carry)
        carry, features = agent.memory.step(params.memory, derived, entering, x)
        return carry, (agent.memory.remember(entering, carry), features)

    _, (remembered, features) = jax.lax.scan(step, start, (x, rollout.fresh))
    return rollout._replace(remembered=remembered, value=agent.value(params, features))


def next_values(agent: ActorCritic, params: Parameters, rollout: Rollout) -> Float[Array, " steps"]:
    """The value of what each step showed in the end.

    The memory makes one step more, from the state before a restart, on the final observation: where
    a time limit ended the episode this is the value of what would have followed.
    """
    derived = agent.memory.derive(params.memory)
    x = agent.encode(params, rollout.shown.final_observation)
    features = agent.memory.features_after(params.memory, derived, rollout.remembered.after, x)
    return agent.value(params, features)
