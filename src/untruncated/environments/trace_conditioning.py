"""Trace conditioning: predict an unconditioned stimulus (US) from a conditioned one (CS).

A trial starts with the onset of the CS. The US follows after an inter-stimulus interval, long
after the CS has gone, so a learner must remember the CS to predict it. Another interval later the
next trial starts. Distractors turn on and off at random and carry no information. There are no
actions and no episodes: it is one continuing stream.

The problem is the one of the animal-learning benchmark of Rafiee et al. (Adaptive Behavior, 2022)
that the RTU paper (Section 4.2) uses.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, Int32, PRNGKeyArray

from untruncated.catalogue.components import TraceConditioningFields
from untruncated.environments.protocol import TimeStep


class State(NamedTuple):
    """Where a stream stands after a step.

    Attributes:
        key: the base key of the stream; it never changes.
        t: number of steps made so far, which is the index of the next one.
        counters: steps since the onset of the present trial's CS; its inter-stimulus interval;
            its inter-trial interval; then, for each distractor, how many steps it stays on, this
            one included (0 is off). One array, because a step then compiles to few kernels.
    """

    key: PRNGKeyArray
    t: Int32[Array, "*batch"]
    counters: Int32[Array, "*batch counters"]


@dataclass(frozen=True)
class TraceConditioning(TraceConditioningFields):
    """The trace-conditioning stream; durations are in steps.

    Attributes:
        interval: mean `E` of the inter-stimulus interval (CS onset to US onset), which is uniform
            on `E - E // 3 .. E + E // 3`, both ends included.
        distractors: number of distractors. Number `i = 1, 2, ...`, when off, turns on with
            probability `1 / (10 i)` per step.
        cs_steps: how long the CS stays on.
        us_steps: how long the US stays on.
        iti_low: shortest inter-trial interval (US onset to next CS onset), which is uniform.
        iti_high: longest inter-trial interval, included.
        distractor_steps: how long a distractor stays on. It is then off for one step in which it
            cannot turn on again.

    Raises:
        ValueError: if stimuli could overlap or a number is out of range.
    """

    cs_steps: int = 4
    us_steps: int = 2
    iti_low: int = 80
    iti_high: int = 120
    distractor_steps: int = 4

    def __post_init__(self) -> None:
        # not the bounds of the record, which are for stimuli of their usual lengths
        rules = {
            "distractors must be at least 0": self.distractors >= 0,
            "cs_steps must be at least 1": self.cs_steps >= 1,
            "us_steps must be at least 1": self.us_steps >= 1,
            "distractor_steps must be at least 1": self.distractor_steps >= 1,
            f"interval must be large enough for the shortest CS-to-US interval ({self.isi_low}) to "
            f"exceed cs_steps ({self.cs_steps})": self.isi_low > self.cs_steps,
            f"iti_low must be at least us_steps ({self.us_steps})": self.iti_low >= self.us_steps,
            f"iti_high must be at least iti_low ({self.iti_low})": self.iti_high >= self.iti_low,
        }
        broken = [rule for rule, holds in rules.items() if not holds]
        if broken:
            raise ValueError(f"{'; '.join(broken)}: got {self}")

    @property
    def observation_size(self) -> int:
        """Number of features: US, CS, then the distractors."""
        return 2 + self.distractors

    @property
    def isi_low(self) -> int:
        """Shortest number of steps from CS onset to US onset."""
        return self.interval - self.interval // 3

    @property
    def isi_high(self) -> int:
        """Longest number of steps from CS onset to US onset."""
        return self.interval + self.interval // 3

    def start(self, key: PRNGKeyArray) -> State:
        """The state before step 0: `unroll` from it gives the whole stream."""
        # Intervals of zero mean that the trial before step 0 is over.
        return State(key, jnp.int32(0), jnp.zeros(3 + self.distractors, jnp.int32))

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        """Start a stream: its step 0 is the first step of the first trial, so the CS is on."""
        return self.step(self.start(key))

    def step(self, state: State) -> tuple[State, TimeStep]:
        """Make one step; the reward is the US, and no step is ever the last one."""
        draws = self._draws(self._uniforms(state.key, state.t[None]))[0]
        counters = self._advance(state.counters, draws)
        return State(state.key, state.t + 1, counters), self._read(counters)

    def unroll(self, state: State, steps: int, ahead: int = 0) -> tuple[State, TimeStep]:
        """Make `steps` steps; bit for bit what as many calls of `step` give, but much faster.

        Returns:
            The state after `steps` steps, at least one, and the time steps stacked along a leading
            axis of length `steps + ahead`: the last `ahead` are what will come next.
        """
        # What a step draws depends on its index alone, so all draws are made at once. The scan
        # that remains is integer arithmetic on one small array.
        times = state.t + jnp.arange(steps + ahead, dtype=jnp.int32)
        draws = self._draws(self._uniforms(state.key, times))

        def advance(
            counters: Int32[Array, " counters"], draws: Int32[Array, " features"]
        ) -> tuple[Int32[Array, " counters"], Int32[Array, " counters"]]:
            counters = self._advance(counters, draws)
            return counters, counters

        _, history = jax.lax.scan(advance, state.counters, draws)
        return State(state.key, state.t + steps, history[steps - 1]), self._read(history)

    def _uniforms(
        self, key: PRNGKeyArray, times: Int32[Array, " steps"]
    ) -> Float32[Array, "steps features"]:
        """Uniforms on [0, 1): two for the intervals of a trial, then one for each distractor."""
        # `fold_in` makes 64 good random bits; reading them as two numbers of 24 bits, rather than
        # as a key to draw from, is five times faster than one `jax.random.uniform` per step.
        size = 2 + self.distractors
        streams = jax.vmap(jax.random.fold_in, (None, 0))(key, jnp.arange(-(-size // 2)))
        folded = jax.vmap(jax.vmap(jax.random.fold_in, (None, 0)), (0, None))(streams, times)
        words = jnp.moveaxis(jax.random.key_data(folded)[..., :2], 1, 2)
        words = words.reshape(-1, times.shape[0])[:size].T
        return (words >> 8).astype(jnp.float32) * jnp.float32(2.0**-24)

    def _draws(self, uniforms: Float32[Array, "steps features"]) -> Int32[Array, "steps features"]:
        """What each step would draw: ISI, ITI, and for how long each distractor would turn on."""
        probabilities = 1 / (10 * np.arange(1, self.distractors + 1))
        turns_on = uniforms[:, 2:] < probabilities.astype(np.float32)
        return jnp.concatenate(
            [
                _uniform_integer(uniforms[:, :1], self.isi_low, self.isi_high),
                _uniform_integer(uniforms[:, 1:2], self.iti_low, self.iti_high),
                jnp.where(turns_on, jnp.int32(self.distractor_steps), jnp.int32(0)),
            ],
            axis=1,
        )

    def _advance(
        self, counters: Int32[Array, " counters"], draws: Int32[Array, " features"]
    ) -> Int32[Array, " counters"]:
        """One step: trial bookkeeping, distractor draws, then everything ticks."""
        clock, intervals, distractors = counters[:1] + 1, counters[1:3], counters[3:]
        starts = clock >= intervals.sum(dtype=jnp.int32)
        # A distractor at 1 goes off in this step. It still counts as on while the draws are made,
        # so none is made for it: one dead step after every appearance.
        return jnp.concatenate(
            [
                jnp.where(starts, 0, clock),
                jnp.where(starts, draws[:2], intervals),
                jnp.where(distractors > 0, distractors - 1, draws[2:]),
            ]
        )

    def _read(self, counters: Int32[Array, "*steps counters"]) -> TimeStep:
        clock, isi = counters[..., :1], counters[..., 1:2]
        us = (clock >= isi) & (clock < isi + self.us_steps)
        on = jnp.concatenate([us, clock < self.cs_steps, counters[..., 3:] > 0], axis=-1)
        observation = on.astype(jnp.float32)
        never = jnp.zeros(us.shape[:-1], bool)
        return TimeStep(observation, observation[..., 0], never, never)


def _uniform_integer(
    uniform: Float32[Array, "steps 1"], low: int, high: int
) -> Int32[Array, "steps 1"]:
    """An integer on `low .. high`, both included, from a uniform on [0, 1)."""
    drawn = low + jnp.floor(uniform * jnp.float32(high - low + 1)).astype(jnp.int32)
    # Rounding of the product may reach the number above the last one.
    return jnp.minimum(drawn, high)
