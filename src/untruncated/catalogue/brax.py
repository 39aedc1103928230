"""The environments made of Brax by name, with the sizes of what an agent sees and does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from untruncated.catalogue.entry import EnvironmentEntry, Field
from untruncated.catalogue.fidelity import FIDELITIES
from untruncated.catalogue.record import Record, fields_of


@dataclass(frozen=True)
class BraxFields(Record):
    """Of all of them."""

    fidelity: Annotated[
        str,
        Field(
            choices=FIDELITIES,
            meaning="a reset for every episode, or as in the RTU paper's public code: every "
            "episode starts as the first, and halfcheetah's forward velocity counts as a position",
        ),
    ] = "exact"
    episode_length: Annotated[
        int, Field(minimum=1, maximum=1_000_000, meaning="steps until an episode is truncated")
    ] = 1000


# Robot: number of positions, of velocities and of torques.
_SIZES = {
    "ant": (13, 14, 8),
    "halfcheetah": (8, 9, 6),
    "hopper": (5, 6, 3),
    "walker2d": (8, 9, 6),
}


def _entry(robot: str, part: str) -> EnvironmentEntry:
    positions, velocities, torques = _SIZES[robot]
    exact = {"P": positions, "V": velocities, "PV": positions + velocities}[part]
    moved = {"P": 1, "V": -1, "PV": 0}[part] if robot == "halfcheetah" else 0

    def observation_size(fields: Mapping[str, Any]) -> int:
        return exact + moved * (fields["fidelity"] == "reference")

    return EnvironmentEntry(
        f"untruncated.environments.brax_pomdp:{robot.capitalize()}{part}",
        fields_of(BraxFields),
        observation_size=observation_size,
        actions=lambda fields: None,
        action_size=torques,
    )


BRAX: dict[str, EnvironmentEntry] = {
    f"{robot}-{part}": _entry(robot, part) for robot in _SIZES for part in ("P", "V", "PV")
} | {
    "reacher": EnvironmentEntry(
        "untruncated.environments.reacher_pomdp:ReacherPOMDP",
        fields_of(BraxFields),
        observation_size=lambda fields: 11,
        actions=lambda fields: None,
        action_size=2,
    ),
    "reacher-shown": EnvironmentEntry(
        "untruncated.environments.reacher_pomdp:ReacherShown",
        fields_of(BraxFields),
        observation_size=lambda fields: 11,
        actions=lambda fields: None,
        action_size=2,
    ),
}
