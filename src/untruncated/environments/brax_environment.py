"""What the environments made of Brax 0.14.2 share: physics, ends, the time limit, bad numbers."""

import functools
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int32, PRNGKeyArray

from untruncated.catalogue.brax import BraxFields
from untruncated.environments.protocol import TimeStep, first_time_step
from untruncated.environments.quiet_brax import brax, envs, mujoco, quiet

BACKEND = "positional"


class State(NamedTuple):
    """The physics after `t` steps of an episode, and Brax's own observation of it."""

    physics: brax.base.State
    full_observation: Float[Array, " features"]
    t: Int32[Array, ""]


class Simulator(NamedTuple):
    """Brax's environment, and its `reset` and `step`, traced once for all that use them."""

    environment: envs.Env
    reset: Any
    step: Any


@functools.cache
def simulator(robot: str) -> Simulator:
    """Brax's environment `robot`, without wrappers."""
    # The constants must not depend on what is being traced at the time, nor on its precision.
    with quiet(), jax.ensure_compile_time_eval(), jax.enable_x64(False):
        environment = envs.get_environment(robot, backend=BACKEND)
    return Simulator(environment, jax.jit(environment.reset), jax.jit(environment.step))


def physics_is_finite(state: State) -> Bool[Array, "*copies"]:
    """Whether every coordinate and velocity is a finite number."""
    numbers = jnp.concatenate([state.physics.q, state.physics.qd], axis=-1)
    return jnp.all(jnp.isfinite(numbers), axis=-1)


@dataclass(frozen=True)
class BraxEnvironment(BraxFields):
    """Brax's rewards and ends; a subclass says which robot it is and what of it is seen.

    The action is a vector of torques, each within ±`action_bound`. Brax clips what goes to the
    motors but charges for all of it; `wrappers.CheckActions` raises an error for it.

    The time limit is a truncation, unless the robot ended the episode on that very step. Floats
    have JAX's default precision.

    If the physics, or the reward, stops being finite, the reward is NaN and the episode does not
    end any more, neither by the rules nor by the time limit: whoever looks later, finds it.

    Attributes:
        fidelity: "exact", or "reference" for what the RTU paper's public code makes of it: under
            `wrappers.AutoReset` every episode then starts as the first, as with Brax's own wrapper.
        episode_length: steps until the truncation.

    Raises:
        ValueError: if `fidelity` is neither, if an episode has no step, or if an action has the
            wrong shape.
    """

    actions: ClassVar[None] = None
    action_bound: ClassVar[float] = 1.0

    @property
    def robot(self) -> str:
        """Brax's name of the environment."""
        raise NotImplementedError

    @property
    def system(self) -> brax.base.System:
        """Links, joints and motors, as Brax has them."""
        return simulator(self.robot).environment.sys

    @property
    def action_size(self) -> int:
        """Number of torques."""
        return self.system.act_size()

    @property
    def longest(self) -> int:
        """Steps of the longest possible episode."""
        return self.episode_length

    @property
    def repeats_first_start(self) -> bool:
        """Whether all episodes of a run start as the first one did."""
        return self.fidelity == "reference"

    def reset(self, key: PRNGKeyArray) -> tuple[State, TimeStep]:
        start = simulator(self.robot).reset(key)
        state = State(start.pipeline_state, start.obs, jnp.int32(0))
        return state, first_time_step(self.observation(state))

    def step(self, state: State, action: Float[Array, " torques"]) -> tuple[State, TimeStep]:
        if action.shape != (self.action_size,):
            raise ValueError(
                f"an action of {self.robot} has shape ({self.action_size},), not {action.shape}"
            )
        zero = jnp.zeros_like(state.full_observation[0])
        before = envs.State(state.physics, state.full_observation, zero, zero)
        after = simulator(self.robot).step(before, action)
        state = State(after.pipeline_state, after.obs, state.t + 1)
        finite = physics_is_finite(state) & jnp.isfinite(after.reward)
        terminated = finite & (after.done > 0)
        truncated = finite & (state.t >= self.episode_length) & ~terminated
        reward = jnp.where(finite, after.reward, jnp.nan)
        return state, TimeStep(self.observation(state), reward, terminated, truncated)

    def observation(self, state: State) -> Float[Array, " seen"]:
        """What the agent sees of this state."""
        raise NotImplementedError

    @property
    def feature_names(self) -> list[str]:
        """What each feature of the observation is."""
        raise NotImplementedError

    def legend(self) -> list[str]:
        """Lines that say what the numbers of `render` are, in their order."""
        coordinates, velocities = coordinate_names(self.system)
        return [
            f"sees:     {', '.join(self.feature_names)}",
            f"truth q:  {', '.join(coordinates)}",
            f"truth qd: {', '.join(velocities)}",
        ]

    def render(self, state: State) -> str:
        """What the agent sees, above the true state. Needs a concrete state, outside of jit."""
        return "\n".join(
            f"{title:<9}" + " ".join(f"{value:+.3f}" for value in np.asarray(values))
            for title, values in (
                ("sees", self.observation(state)),
                ("truth q", state.physics.q),
                ("truth qd", state.physics.qd),
            )
        )


def coordinate_names(system: brax.base.System) -> tuple[list[str], list[str]]:
    """A name for each coordinate q and each velocity qd, after the joints."""
    coordinates, velocities = [], []
    for joint in map(system.mj_model.joint, range(system.mj_model.njnt)):
        if joint.type[0] == mujoco.mjtJoint.mjJNT_FREE:
            coordinates += [f"{joint.name} {part}" for part in ("x", "y", "z", *"wijk")]
            velocities += [f"{joint.name} {part}" for part in ("vx", "vy", "vz", "ωx", "ωy", "ωz")]
        else:
            coordinates.append(joint.name)
            velocities.append(f"{joint.name} velocity")
    return coordinates, velocities
