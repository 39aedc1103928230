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
from untruncated.agents.rollouts import Rollout, next_values
from untruncated.agents.temporal_difference import gae

ADVANTAGE_EPSILON = 1e-8


@dataclass(frozen=True)
class PPO:
    """What an update does with a rollout.

    Attributes:
        rollout: steps of a rollout.
        minibatches: of each epoch; each has `rollout / minibatches` steps.
        epochs: how often an update goes through the rollout.
        discount: γ.
        trace_decay: λ of the generalised advantages.
        clip: largest distance of the importance ratio from 1, and of a value from the old one.
        value_coefficient: weight of half the squared error of the values.
        entropy_coefficient: weight of the policy's entropy.
        largest_norm: of a minibatch's gradient, over all parameters.
        adam_epsilon: ε of Adam.
    """

    rollout: int = 2048
    minibatches: int = 32
    epochs: int = 4
    discount: float = 0.99
    trace_decay: float = 0.95
    clip: float = 0.2
    value_coefficient: float = 0.5
    entropy_coefficient: float = 0.0
    largest_norm: float = 0.5
    adam_epsilon: float = 1e-5

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """All of Adam but the step size."""
        return optax.chain(
            optax.clip_by_global_norm(self.largest_norm),
            optax.scale_by_adam(eps=self.adam_epsilon),
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
    advantages = gae(
        shown.reward,
        rollout.value,
        next_values(agent, params, rollout),
        shown.terminated,
        shown.truncated,
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
    old = learner.params
    aims = targets(ppo, agent, old, rollout)
    x = agent.encode(old, rollout.observation)
    past = agent.memory.past(old.memory, start, rollout.remembered, x, rollout.fresh)
    plain = rollout._replace(remembered=(), shown=())
    units = ppo.rollout // agent.memory.unit

    def minibatch(learner: Learner, numbers: Array) -> tuple[Learner, tuple]:
        index = numbers[:, None] * agent.memory.unit + jnp.arange(agent.memory.unit)
        steps = index.reshape(-1)
        batch = Minibatch(index, *jax.tree.map(lambda leaf: leaf[steps], (plain, aims)))
        (_, measured), gradient = jax.value_and_grad(
            partial(loss, ppo, agent, past, batch), has_aux=True
        )(learner.params)
        norm = optax.global_norm(gradient)
        direction, opt_state = ppo.optimiser.update(gradient, learner.opt_state)
        params = jax.tree.map(lambda p, d: p - step_size * d, learner.params, direction)
        return Learner(agent.constrain(params), opt_state), (*measured, norm)

    def epoch(learner: Learner, key: PRNGKeyArray) -> tuple[Learner, tuple]:
        order = jax.random.permutation(key, units).reshape(ppo.minibatches, -1)
        return jax.lax.scan(minibatch, learner, order)

    learner, measured = jax.lax.scan(epoch, learner, jax.random.split(key, ppo.epochs))
    kl, fraction, entropy, norm = map(jnp.mean, measured)
    unexplained = jnp.var(aims.returns - rollout.value) / jnp.var(aims.returns)
    return learner, UpdateStatistics(
        kl, fraction, entropy, norm, 1 - unexplained, rollout.value.mean()
    )
