"""MultiarmedBandit: each arm pays with a probability of its own, drawn anew in each episode."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int, Int32, PRNGKeyArray

from untruncated.environments.popgym.cards import one_hot, win_or_lose
from untruncated.environments.protocol import TimeStep, first_time_step


class State(NamedTuple):
    """Probabilities of the arms, steps made, whether the last arm paid; `key` never changes."""

    key: PRNGKeyArray
    probabilities: Float32[Array, " arms"]
    t: Int32[Array, ""]
    paid: Bool[Array, ""]


@dataclass(frozen=True)
class MultiarmedBandit:
    """Reward ±1/longest, whether the arm pays or not; the probabilities are uniform on [0, 1)."""

    arms: int = 10
    longest: int = 200

    observation_size = 2

    @property
    def actions(self) -> int:
        return self.arms

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        key, arms_key = jax.random.split(key)
        probabilities = jax.random.uniform(arms_key, (self.arms,), jnp.float32)
        state = State(key, probabilities, jnp.int32(0), jnp.zeros((), bool))
        return state, first_time_step(self._observation(state))

    def step(self, state: State, action: Int[Array, ""]) -> tuple[State, TimeStep]:
        paid = self._uniform(state) < state.probabilities[action]
        state = State(state.key, state.probabilities, state.t + 1, paid)
        reward = win_or_lose(paid, 1 / self.longest)
        never = jnp.zeros((), bool)
        return state, TimeStep(self._observation(state), reward, never, state.t >= self.longest)

    def raw_observation(self, state: State) -> Bool[Array, ""]:
        """Whether the last arm paid."""
        return state.paid

    def optimal_action(self, state: State) -> Int32[Array, ""]:
        return jnp.argmax(state.probabilities).astype(jnp.int32)

    def render(self, state: State) -> str:
        seen = "nothing yet" if state.t == 0 else "paid" if state.paid else "did not pay"
        arms = " ".join(f"{probability:.2f}" for probability in state.probabilities)
        return f"sees {seen}   truth: arms pay with probability {arms}"

    def _uniform(self, state: State) -> Float32[Array, ""]:
        # Reading the folded key's random bits as a number saves drawing a number from the key.
        word = jax.random.key_data(jax.random.fold_in(state.key, state.t))[0]
        return (word >> 8).astype(jnp.float32) * jnp.float32(2.0**-24)

    def _observation(self, state: State) -> Array:
        return one_hot((state.paid.astype(jnp.int32), 2))


LEVELS = {
    "Easy": MultiarmedBandit(10, 200),
    "Medium": MultiarmedBandit(20, 400),
    "Hard": MultiarmedBandit(30, 600),
}
