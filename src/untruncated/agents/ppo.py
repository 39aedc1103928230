"""Proximal policy optimisation (Schulman et al., 2017) for agents with memory.

RTU paper, Section 5, Algorithm 1 and Table 1. Loss and defaults are those of the paper's public
code where the paper is silent.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.agents.actor_critic import ActorCritic, Parameters
from untruncated.agents.optimisers import adam
from untruncated.agents.rollouts import Rollout, next_values, remembered_again
from untruncated.agents.temporal_difference import gae
from untruncated.catalogue.control import PPOFields

ADVANTAGE_EPSILON = 1e-8


@dataclass(frozen=True)
class PPO(PPOFields):
    """What an update does with a rollout.

    The gradient of each minibatch is clipped by its norm over all parameters, then Adam makes a
    step. `time_limits` says what ends an episode by a time limit: a "truncation", after which the
    return goes on, or a "termination", as the RTU paper's public code takes it.
    """

    time_limits: str = "truncation"

    @property
    def optimiser(self) -> optax.GradientTransformationExtraArgs:
        """Adam, whose step size is an argument."""
        return optax.chain(
            optax.clip_by_global_norm(self.largest_norm), adam(epsilon=self.adam_epsilon)
        )


class Learner(NamedTuple):
    """What an update changes."""

    params: Parameters
    opt_state: Any


class Targets(NamedTuple):
    """Generalised advantages, and returns for the critic; shape (steps,)."""

    advantages: Float[Array, " steps"]
    returns: Float[Array, " steps"]


class UpdateStatistics(NamedTuple):
    """What users of PPO look at, each a mean over the minibatches of an update.

    `kl` estimates the divergence of the old policy from the new one, mean((r - 1) - log r);
    `explained_variance` is 1 - Var(returns - values) / Var(returns) before the update.
    """

    kl: Float[Array, ""]
    clip_fraction: Float[Array, ""]
    entropy: Float[Array, ""]
    gradient_norm: Float[Array, ""]
    explained_variance: Float[Array, ""]
    value: Float[Array, ""]


def start(ppo: PPO, agent: ActorCritic, key: PRNGKeyArray) -> Learner:
    """Before the first update."""
    params = agent.init(key)
    return Learner(params, ppo.optimiser.init(params))


def targets(ppo: PPO, agent: ActorCritic, params: Parameters, rollout: Rollout) -> Targets:
    """Advantages and returns of a rollout, with the values that it noted."""
    shown = rollout.shown
    terminated, truncated = shown.terminated, shown.truncated
    if ppo.time_limits == "termination":
        terminated, truncated = terminated | truncated, jnp.zeros_like(truncated)
    advantages = gae(
        shown.reward,
        rollout.value,
        next_values(agent, params, rollout),
        terminated,
        truncated,
        ppo.discount,
        ppo.trace_decay,
    )
    return Targets(advantages, advantages + rollout.value)


class Minibatch(NamedTuple):
    """Some steps of a rollout; all but `index`, (units, unit), have the shape (units × unit, …)."""

    index: Array
    rollout: Rollout
    targets: Targets


def loss(
    ppo: PPO, agent: ActorCritic, past: Any, batch: Minibatch, params: Parameters
) -> tuple[Float[Array, ""], tuple]:
    """The clipped surrogate, the clipped value loss and the entropy bonus of a minibatch.

    Returns:
        The loss; approximate divergence, fraction of clipped ratios, entropy.
    """
    old, policy = batch.rollout, agent.policy
    x = agent.encode(params, old.observation)
    x = x.reshape(*batch.index.shape, -1)
    derived = agent.memory.derive(params.memory)
    features = agent.memory.replay(params.memory, derived, past, batch.index, x)
    features = features.reshape(batch.index.size, -1)
    outputs, values = agent.act(params, features), agent.value(params, features)

    log_ratio = policy.log_prob(outputs, params.log_std, old.action) - old.log_prob
    ratio = jnp.exp(log_ratio)
    advantages = batch.targets.advantages
    advantages = (advantages - advantages.mean()) / (advantages.std() + ADVANTAGE_EPSILON)
    clipped = jnp.clip(ratio, 1 - ppo.clip, 1 + ppo.clip)
    surrogate = jnp.minimum(ratio * advantages, clipped * advantages).mean()

    held = old.value + jnp.clip(values - old.value, -ppo.clip, ppo.clip)
    returns = batch.targets.returns
    errors = jnp.maximum((values - returns) ** 2, (held - returns) ** 2)
    entropy = policy.entropy(outputs, params.log_std).mean()
    total = (
        -surrogate + ppo.value_coefficient * 0.5 * errors.mean() - ppo.entropy_coefficient * entropy
    )
    kl = jnp.mean(ratio - 1 - log_ratio)
    fraction = jnp.mean(jnp.abs(ratio - 1) > ppo.clip)
    return total, (kl, fraction, entropy)


def update(
    ppo: PPO,
    agent: ActorCritic,
    learner: Learner,
    rollout: Rollout,
    start: Any,
    key: PRNGKeyArray,
    step_size: Float[Array, ""],
) -> tuple[Learner, UpdateStatistics]:
    """All epochs over a rollout.

    Args:
        start: What was carried into the rollout by the memory.
        step_size: of Adam.
    """
    plain = rollout._replace(remembered=(), shown=())
    units = ppo.rollout // agent.memory.unit
    refreshes = ppo.refresh_traces or ppo.refresh_targets
    first = _seen(agent, ppo, learner.params, rollout, start)

    def minibatch(seen: Seen, learner: Learner, numbers: Array) -> tuple[Learner, tuple]:
        index = numbers[:, None] * agent.memory.unit + jnp.arange(agent.memory.unit)
        steps = index.reshape(-1)
        batch = Minibatch(index, *jax.tree.map(lambda leaf: leaf[steps], (plain, seen.targets)))
        (_, measured), gradient = jax.value_and_grad(
            partial(loss, ppo, agent, seen.past, batch), has_aux=True
        )(learner.params)
        norm = optax.global_norm(gradient)
        change, opt_state = ppo.optimiser.update(
            gradient, learner.opt_state, learner.params, step_size=step_size
        )
        params = agent.constrain(optax.apply_updates(learner.params, change))
        return Learner(params, opt_state), (*measured, norm)

    def epoch(carry: tuple[Learner, Any], key: PRNGKeyArray) -> tuple[tuple, tuple]:
        learner, seen = carry
        if refreshes:
            seen = _refreshed(ppo, agent, learner.params, rollout, start, seen)
        order = jax.random.permutation(key, units).reshape(ppo.minibatches, -1)
        learner, measured = jax.lax.scan(partial(minibatch, seen or first), learner, order)
        return (learner, seen), measured

    keys = jax.random.split(key, ppo.epochs)
    (learner, _), measured = jax.lax.scan(epoch, (learner, first if refreshes else None), keys)
    kl, fraction, entropy, norm = map(jnp.mean, measured)
    returns = first.targets.returns
    unexplained = jnp.var(returns - rollout.value) / jnp.var(returns)
    return learner, UpdateStatistics(
        kl, fraction, entropy, norm, 1 - unexplained, rollout.value.mean()
    )


class Seen(NamedTuple):
    """What the steps of a rollout are learned with: the memory's past, and the targets."""

    past: Any
    targets: Targets


def _seen(agent: ActorCritic, ppo: PPO, params: Parameters, rollout: Rollout, start: Any) -> Seen:
    x = agent.encode(params, rollout.observation)
    past = agent.memory.past(params.memory, start, rollout.remembered, x, rollout.fresh)
    return Seen(past, targets(ppo, agent, params, rollout))


def _refreshed(
    ppo: PPO, agent: ActorCritic, params: Parameters, rollout: Rollout, start: Any, seen: Seen
) -> Seen:
    """What was seen, or the part of it that is to be refreshed, with these parameters."""
    again = _seen(agent, ppo, params, remembered_again(agent, params, rollout, start), start)
    return Seen(
        again.past if ppo.refresh_traces else seen.past,
        again.targets if ppo.refresh_targets else seen.targets,
    )
