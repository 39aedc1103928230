"""POPGym: memory games as pure functions, equal step for step to the package `popgym` 1.0.7."""

from untruncated.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Autoencode": "autoencode",
        "AutoencodeReference": "autoencode_reference",
        "Battleship": "battleship",
        "Concentration": "concentration",
        "CountRecall": "count_recall",
        "CountRecallReference": "count_recall_reference",
        "Game": "protocol",
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
        "make": "registry",
        "names": "registry",
    },
)
