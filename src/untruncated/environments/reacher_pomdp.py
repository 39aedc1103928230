"""Reacher POMDP: a two-joint arm has to reach a target that is shown at the first step only."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from untruncated.environments.brax_environment import BraxEnvironment, State

# Where Brax's observation tells the target: its x and y, and the way to it from the fingertip.
TARGET = (4, 5, 8, 9, 10)


@dataclass(frozen=True)
class ReacherPOMDP(BraxEnvironment):
    """Brax's reacher; what tells the target is 0 from the second observation on.

    The observation is cos of both joints, sin of both, the target's x and y, the fingertip's
    velocity in x and y, and the way from target to fingertip in x, y and z.

    The reward is minus the distance to the target, less the squared torques: an agent that saw it
    could tell the target by it, so `wrappers.LastActionAndReward` refuses to append it.

    Every reset draws a target. With `fidelity` "reference" there is only one in a run, because
    every episode starts as the first.
    """

    observation_size: ClassVar[int] = 11
    reward_tells_hidden: ClassVar[bool] = True
    hidden_after_first: ClassVar[tuple[int, ...]] = TARGET

    @property
    def robot(self) -> str:
        return "reacher"

    @property
    def feature_names(self) -> list[str]:
        return (
            "cos joint0, cos joint1, sin joint0, sin joint1, target x, target y, fingertip vx, "
            "fingertip vy, target to fingertip x, target to fingertip y, target to fingertip z"
        ).split(", ")

    def observation(self, state: State) -> Float[Array, "11"]:
        hidden = jnp.zeros(self.observation_size, bool).at[jnp.array(TARGET)].set(state.t > 0)
        return jnp.where(hidden, 0, state.full_observation)


@dataclass(frozen=True)
class ReacherShown(ReacherPOMDP):
    """The same with the target in sight all the time: there is nothing to remember."""

    reward_tells_hidden: ClassVar[bool] = False
    hidden_after_first: ClassVar[tuple[int, ...]] = ()

    def observation(self, state: State) -> Float[Array, "11"]:
        return state.full_observation
