"""What step sizes are chosen by, and which way is better. No jax here."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["min", "max"]


@dataclass(frozen=True)
class Objective:
    """A metric by step size and seed, of which the best mean has the best step size."""

    name: str
    direction: Direction = "min"

    @property
    def rule(self) -> str:
        """How a step size is chosen, as run specs have it."""
        return f"{'lowest' if self.direction == 'min' else 'highest'}_mean_{self.name}"

    @property
    def sign(self) -> int:
        """What its values are multiplied by, so that lower is better."""
        return 1 if self.direction == "min" else -1

    def covers(self, metric: str) -> bool:
        """Whether a metric is the objective, of a part of a run or along it as well."""
        return metric in (self.name, f"{self.name}_last_tenth", f"{self.name}_curve")
