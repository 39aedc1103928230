"""Five tiny environments with known values, to tell whether an agent learns what it should.

Rewards alone, rewards by observation, delayed rewards; then memory of a cue, and of what was tried.
Episodes end by the rules, never by a time limit.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float32, Int, Int32, PRNGKeyArray

from untruncated.environments.protocol import TimeStep, first_time_step


class State(NamedTuple):
    """Steps made; a sign that is drawn for each episode, +1 or -1; the last reward."""

    t: Int32[Array, ""]
    sign: Float32[Array, ""]
    last_reward: Float32[Array, ""]


@dataclass(frozen=True)
class Diagnostic:
    """An episode of `steps` steps; a subclass says what is shown, paid and expected.

    Raises:
        ValueError: if an episode has no step.
    """

    steps: int = 1

    actions = 2
    observation_size = 1

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1: got {self.steps}")

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        zero = jnp.float32(0)
        state = State(jnp.int32(0), jax.random.rademacher(key, (), jnp.float32), zero)
        return state, first_time_step(self._observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        reward = self._reward(state, action).astype(jnp.float32)
        state = State(state.t + 1, state.sign, reward)
        ended = state.t >= self.steps
        return state, TimeStep(self._observation(state), reward, ended, jnp.zeros_like(ended))

    def value(self, state: State, discount: float) -> Float32[Array, ""]:
        """The expected discounted sum of the rewards to come, under a best policy."""
        return jnp.where(state.t >= self.steps, 0, self._value(state, discount))

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        """Of a best policy that sees the observations alone but remembers all of them."""
        return jnp.int32(0)

    def _observation(self, state: State) -> Float32[Array, " features"]:
        return jnp.zeros(1)

    def _reward(self, state: State, action: Int[Array, ""]) -> Array:
        raise NotImplementedError

    def _value(self, state: State, discount: float) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class ConstantReward(Diagnostic):
    """Reward 1 a step, whatever is done; the observation is always 0.

    With more than one step the value depends on the time, which the observation does not tell.
    """

    @property
    def optimal_return(self) -> float:
        """Mean undiscounted return of a best policy."""
        return float(self.steps)

    def _reward(self, state: State, action: Int[Array, ""]) -> Array:
        return jnp.ones_like(state.sign)

    def _value(self, state: State, discount: float) -> Array:
        left = self.steps - state.t
        return jnp.sum(
            jnp.where(jnp.arange(self.steps) < left, discount ** jnp.arange(self.steps), 0.0)
        )


@dataclass(frozen=True)
class ObservedReward(Diagnostic):
    """One step that pays what the observation says, +1 or -1, whatever is done."""

    optimal_return = 0.0

    def _observation(self, state: State) -> Float32[Array, " features"]:
        return state.sign[None]

    def _reward(self, state: State, action: Int[Array, ""]) -> Array:
        return state.sign

    def _value(self, state: State, discount: float) -> Array:
        return state.sign


@dataclass(frozen=True)
class DelayedReward(Diagnostic):
    """Reward 1 at the last step only; the observation is the share of the steps made."""

    steps: int = 2

    optimal_return = 1.0

    def _observation(self, state: State) -> Float32[Array, " features"]:
        return (state.t / self.steps).astype(jnp.float32)[None]

    def _reward(self, state: State, action: Int[Array, ""]) -> Array:
        return state.t == self.steps - 1

    def _value(self, state: State, discount: float) -> Array:
        return jnp.float32(discount) ** (self.steps - 1 - state.t)


@dataclass(frozen=True)
class CueRecall(Diagnostic):
    """A cue, +1 or -1, is shown at first; the last of `steps` actions must name it: 1 for +1.

    Observations are the cue and a flag at the last decision. The last reward is 1 or -1, the
    others 0; without memory the mean return is 0.
    """

    steps: int = 4

    observation_size = 2
    optimal_return = 1.0

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        return (state.sign > 0).astype(jnp.int32)

    def _observation(self, state: State) -> Float32[Array, " features"]:
        cue = jnp.where(state.t == 0, state.sign, 0)
        return jnp.stack([cue, (state.t == self.steps - 1).astype(jnp.float32)])

    def _reward(self, state: State, action: Int[Array, ""]) -> Array:
        right = jnp.where(action == self.optimal_action(state), 1.0, -1.0)
        return jnp.where(state.t == self.steps - 1, right, 0.0)

    def _value(self, state: State, discount: float) -> Array:
        return jnp.float32(discount) ** (self.steps - 1 - state.t)


@dataclass(frozen=True)
class TwoArms(Diagnostic):
    """One of two arms pays 1, the other -1, and which is drawn for each episode.

    The observation is the last reward. The best player tries one arm and then pulls the one that
    pays; the mean return is `steps - 1`. Who remembers nothing earns `steps // 2` at best: one arm
    after nothing and after a gain, the other after a loss.
    """

    steps: int = 4

    @property
    def optimal_return(self) -> float:
        """Mean undiscounted return of a best policy."""
        return self.steps - 1.0

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        return jnp.where(state.t == 0, 0, self._better(state))

    def _better(self, state: State) -> Int32[Array, ""]:
        return (state.sign > 0).astype(jnp.int32)

    def _observation(self, state: State) -> Float32[Array, " features"]:
        return state.last_reward[None]

    def _reward(self, state: State, action: Int[Array, ""]) -> Array:
        return jnp.where(action == self._better(state), 1.0, -1.0)

    def _value(self, state: State, discount: float) -> Array:
        powers = jnp.float32(discount) ** jnp.arange(self.steps)
        # Before the first pull nothing is known of it.
        counted = (jnp.arange(self.steps) < self.steps - state.t) & ~(
            (state.t == 0) & (jnp.arange(self.steps) == 0)
        )
        return jnp.sum(jnp.where(counted, powers, 0.0))


DIAGNOSTICS = {
    "constant_reward": ConstantReward(),
    "observed_reward": ObservedReward(),
    "delayed_reward": DelayedReward(),
    "cue_recall": CueRecall(),
    "two_arms": TwoArms(),
}
