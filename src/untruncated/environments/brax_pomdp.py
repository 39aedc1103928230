"""MuJoCo-P and -V: Brax's robots of which positions alone are seen, or velocities alone.

-PV shows both, for what an agent could do that had nothing to remember.
"""

from dataclasses import dataclass
from functools import partial

from jaxtyping import Array, Float

from untruncated.environments.brax_environment import (
    BraxEnvironment,
    State,
    coordinate_names,
)

# The first coordinates say how far the robot has come, x and for the ant y; Brax never shows them.
UNSEEN = {"ant": 2, "halfcheetah": 1, "hopper": 1, "walker2d": 1}
# Brax shows the torso's height above ground in the place of the first of the others.
HEIGHT_FIRST = ("hopper", "walker2d")
# The RTU paper's public code takes the forward velocity for a position.
REFERENCE_POSITIONS = {"halfcheetah": 9}


@dataclass(frozen=True)
class BraxPOMDP(BraxEnvironment):
    """Shows of Brax's observation positions and joint angles (-P), velocities (-V), or both (-PV).

    Brax's observation is the coordinates q without the first (ant: the first two), then the
    velocities qd. In hopper and walker2d the torso's height above ground takes the place of q[1],
    and velocities are clipped to ±10.

    Attributes:
        name: "ant", "halfcheetah", "hopper" or "walker2d".
        part: "P", "V" or "PV". With `fidelity` "reference", halfcheetah's forward velocity
            belongs to P.

    Raises:
        ValueError: if `name` or `part` is none of these.
    """

    name: str = "ant"
    part: str = "P"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.name not in UNSEEN:
            raise ValueError(f"name must be one of {', '.join(UNSEEN)}: got {self.name!r}")
        if self.part not in ("P", "V", "PV"):
            raise ValueError(f"part must be 'P', 'V' or 'PV', not {self.part!r}")

    @property
    def robot(self) -> str:
        return self.name

    @property
    def seen(self) -> slice:
        """Which part of Brax's observation is shown."""
        positions = self.system.q_size() - UNSEEN[self.name]
        end = positions + self.system.qd_size()
        if self.fidelity == "reference":
            positions = REFERENCE_POSITIONS.get(self.name, positions)
        return slice(0 if "P" in self.part else positions, end if "V" in self.part else positions)

    @property
    def observation_size(self) -> int:
        """Number of features of the observation."""
        return self.seen.stop - self.seen.start

    @property
    def feature_names(self) -> list[str]:
        coordinates, velocities = coordinate_names(self.system)
        names = coordinates[UNSEEN[self.name] :] + velocities
        if self.name in HEIGHT_FIRST:
            names[0] = "height"
        return names[self.seen]

    def observation(self, state: State) -> Float[Array, " seen"]:
        return state.full_observation[self.seen]


AntP = partial(BraxPOMDP, name="ant", part="P")
AntV = partial(BraxPOMDP, name="ant", part="V")
AntPV = partial(BraxPOMDP, name="ant", part="PV")
HalfcheetahP = partial(BraxPOMDP, name="halfcheetah", part="P")
HalfcheetahV = partial(BraxPOMDP, name="halfcheetah", part="V")
HalfcheetahPV = partial(BraxPOMDP, name="halfcheetah", part="PV")
HopperP = partial(BraxPOMDP, name="hopper", part="P")
HopperV = partial(BraxPOMDP, name="hopper", part="V")
HopperPV = partial(BraxPOMDP, name="hopper", part="PV")
Walker2dP = partial(BraxPOMDP, name="walker2d", part="P")
Walker2dV = partial(BraxPOMDP, name="walker2d", part="V")
Walker2dPV = partial(BraxPOMDP, name="walker2d", part="PV")
