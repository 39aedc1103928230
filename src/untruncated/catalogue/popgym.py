"""POPGym's environments by name, with the sizes of what an agent sees and may do."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from untruncated.catalogue.entry import EnvironmentEntry, Field
from untruncated.catalogue.fidelity import FIDELITIES

# Number of features and of actions at Easy, Medium and Hard; None is one real number.
_SIZES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "Autoencode": ((6, 4),) * 3,
    "Battleship": ((2, 64), (2, 100), (2, 144)),
    "Concentration": ((156, 52), (312, 104), (728, 52)),
    "CountRecall": ((4, 27), (8, 27), (26, 17)),
    "HigherLower": ((13, 2),) * 3,
    "LabyrinthEscape": ((50, 4),) * 3,
    "LabyrinthExplore": ((50, 4),) * 3,
    "MineSweeper": ((3, 16), (7, 36), (10, 64)),
    "MultiarmedBandit": ((2, 10), (2, 20), (2, 30)),
    "NoisyPositionOnlyCartPole": ((2, 2),) * 3,
    "NoisyPositionOnlyPendulum": ((2, None),) * 3,
    "PositionOnlyCartPole": ((2, 2),) * 3,
    "PositionOnlyPendulum": ((2, None),) * 3,
    "RepeatFirst": ((4, 4),) * 3,
    "RepeatPrevious": ((4, 4),) * 3,
    "VelocityOnlyCartPole": ((2, 2),) * 3,
}
# The variants in the RTU paper's public code.
_REFERENCE_SIZES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "Autoencode": ((4, 4),) * 3,
    "CountRecall": ((4, 2), (8, 2), (26, 2)),
}
FIDELITY = Field(
    str,
    "exact",
    choices=FIDELITIES,
    meaning="the rules of the popgym package, or of the RTU paper's public code",
)
_LEVELS = ("Easy", "Medium", "Hard")


def _entry(family: str, level: int) -> EnvironmentEntry:
    sizes = {"exact": _SIZES[family][level]}
    if family in _REFERENCE_SIZES:
        sizes["reference"] = _REFERENCE_SIZES[family][level]

    def observation_size(fields: Mapping[str, Any]) -> int:
        return sizes[fields["fidelity"]][0]

    def actions(fields: Mapping[str, Any]) -> int | None:
        return sizes[fields["fidelity"]][1]

    return EnvironmentEntry(
        f"untruncated.environments.popgym.registry:{family}{_LEVELS[level]}",
        {"fidelity": replace(FIDELITY, choices=tuple(sizes))},
        observation_size=observation_size,
        actions=actions,
        action_size=1 if sizes["exact"][1] is None else 0,
    )


POPGYM: dict[str, EnvironmentEntry] = {
    family + name: _entry(family, level) for family in _SIZES for level, name in enumerate(_LEVELS)
}
