"""What the runner needs from a program, and nothing more."""

from typing import Any, Protocol

from jaxtyping import Array, PyTree

from untruncated.results.metric import Metric

__all__ = ["Metric", "Program"]


class Program(Protocol):
    """One compiled experiment, advanced in chunks of equal length.

    The carry is a pytree of arrays (typed PRNG keys included) that holds everything: the state of
    every member, the step counter where one is needed, and the curves recorded so far. Between
    two chunks it may be written to disk and read back by another process, so nothing that changes
    the numbers may live elsewhere.
    """

    total_steps: int
    """Steps of the whole run, in `unit`; the same for every member."""
    chunk_steps: int
    """Steps of one `advance`; divides `total_steps`, and must not change the numbers."""
    axes: dict[str, list]
    """Coordinates of every axis that a metric or a divergence record names."""
    choices: dict[str, Any]
    """What the program picked itself, e.g. the step size of a final stage."""
    unit: str
    """What a step is called in the progress bar, e.g. "steps"."""
    members: int
    """Trajectories that advance together: the product of the lengths of the member axes."""

    def init(self) -> PyTree[Array]:
        """The carry before the first step."""
        ...

    def advance(self, carry: PyTree[Array]) -> PyTree[Array]:
        """The carry `chunk_steps` later: always the same compiled program.

        Structure, shapes and dtypes stay. The argument's buffers may be donated.
        """
        ...

    def diverged(self, carry: PyTree[Array]) -> list[dict[str, Any]]:
        """One record per member that has diverged: a coordinate per axis, "step", "reason"."""
        ...

    def metrics(self, carry: PyTree[Array]) -> dict[str, Metric]:
        """The metrics recorded up to this carry; NaN where a member has none."""
        ...
