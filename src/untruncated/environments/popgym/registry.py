"""POPGym's environments by the names that the package gives them, such as "CountRecallEasy"."""

import difflib
import importlib
from functools import partial
from typing import Any

from untruncated.catalogue.popgym import FIDELITY
from untruncated.environments.popgym.protocol import Game

LEVELS = ("Easy", "Medium", "Hard")
# Each module holds a table LEVELS of one family's environments.
FAMILIES = {
    "Autoencode": "autoencode",
    "Battleship": "battleship",
    "Concentration": "concentration",
    "CountRecall": "count_recall",
    "HigherLower": "higher_lower",
    "LabyrinthEscape": "labyrinth_escape",
    "LabyrinthExplore": "labyrinth_explore",
    "MineSweeper": "minesweeper",
    "MultiarmedBandit": "multiarmed_bandit",
    "NoisyPositionOnlyCartPole": "noisy_position_only_cartpole",
    "NoisyPositionOnlyPendulum": "noisy_position_only_pendulum",
    "PositionOnlyCartPole": "position_only_cartpole",
    "PositionOnlyPendulum": "position_only_pendulum",
    "RepeatFirst": "repeat_first",
    "RepeatPrevious": "repeat_previous",
    "VelocityOnlyCartPole": "velocity_only_cartpole",
}
# Families that the RTU paper's public code has in a variant of its own.
REFERENCE = {"Autoencode": "autoencode_reference", "CountRecall": "count_recall_reference"}


def names() -> list[str]:
    """The names that `make` knows."""
    return [family + level for family in FAMILIES for level in LEVELS]


def make(name: str, fidelity: str = FIDELITY.default) -> Game:
    """The environment called `name`.

    Args:
        name: a family and its level, as in the package.
        fidelity: "exact" for the package's rules; "reference" for those in the RTU paper's public
            code, which differ for CountRecall and Autoencode.

    Raises:
        ValueError: if there is no such environment.
    """
    known = names()
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f": did you mean {nearest[0]!r}?" if nearest else f". Known: {', '.join(known)}"
        raise ValueError(f"unknown environment {name!r}{hint}")
    level = next(level for level in LEVELS if name.endswith(level))
    modules = {"exact": FAMILIES, "reference": REFERENCE}.get(fidelity, {})
    module = modules.get(name.removesuffix(level))
    if module is None:
        allowed = "exact or reference" if name.removesuffix(level) in REFERENCE else "exact"
        raise ValueError(f"fidelity of {name} must be {allowed}, not {fidelity!r}")
    return importlib.import_module(f"{__package__}.{module}").LEVELS[level]


def __getattr__(name: str) -> Any:
    """`registry.CountRecallEasy` makes that environment, so that the catalogue can point to it."""
    if name in names():
        return partial(make, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
