"""What programs share that learn at several step sizes and from several seeds at once.

Their members are the learners, one for each step size and seed, all advanced together. A seed's
learner starts from the same parameters and meets the same data at every step size.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from untruncated.programs.compiling import QUICK_COMPILE
from untruncated.programs.curves import Timeline
from untruncated.programs.divergence import NEVER, divergence_records, lost_bins

MEMBER_AXES = ("step_size", "seed")


class MemberCarry(Protocol):
    """A carry that says when each member diverged: -1 where none has."""

    @property
    def diverged_at(self) -> Int[Array, "step_sizes seeds"]:
        """The first step whose value was not finite."""


@dataclass(frozen=True, eq=False, kw_only=True)
class StepSizesAndSeeds:
    """A `programs.protocol.Program` but for its learning.

    A subclass has a `timeline`, makes its `first_carry`, advances it and reads its metrics from it.
    `operations` is what a member's step costs, about, by the catalogue: chunks are the shorter the
    dearer it is. `reason` is what the records say of a member that diverged.
    """

    reason: ClassVar[str]

    step_sizes: list[float]
    seeds: list[int]
    total_steps: int
    choices: dict[str, Any]
    operations: float
    unit: str = "steps"

    @property
    def shape(self) -> tuple[int, int]:
        """How many step sizes and seeds there are."""
        return len(self.step_sizes), len(self.seeds)

    @property
    def members(self) -> int:
        return math.prod(self.shape)

    @property
    def timeline(self) -> Timeline:
        """Bins and chunks."""
        raise NotImplementedError

    @property
    def chunk_steps(self) -> int:
        return self.timeline.chunk_steps

    @property
    def axes(self) -> dict[str, list]:
        coordinates = zip(MEMBER_AXES, (self.step_sizes, self.seeds), strict=True)
        return {**dict(coordinates), "curve_step": self.timeline.bin_ends}

    def init(self) -> Any:
        # Seeds and step sizes are arguments, so that other seeds need no other compilation.
        return self._init(jnp.asarray(self.seeds), jnp.asarray(self.step_sizes, float))

    @partial(jax.jit, static_argnums=0, compiler_options=QUICK_COMPILE)
    def _init(self, seeds: Int[Array, " seeds"], step_sizes: Float[Array, " sizes"]) -> Any:
        return self.first_carry(seeds, step_sizes)

    def first_carry(
        self, seeds: Int[Array, " seeds"], step_sizes: Float[Array, " step_sizes"]
    ) -> MemberCarry:
        """The carry before the first step."""
        raise NotImplementedError

    def at_every_step_size(self, learners: Any) -> Any:
        """Each seed's learner once more for every step size, as a new first axis."""
        return jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (len(self.step_sizes), *leaf.shape)), learners
        )

    def no_curve(self) -> Float[Array, "step_sizes seeds bins"]:
        """A curve in which nothing has been recorded."""
        return jnp.zeros((*self.shape, self.timeline.bins))

    def none_diverged(self) -> Int[Array, "step_sizes seeds"]:
        """The `diverged_at` of a first carry."""
        return jnp.full(self.shape, NEVER, jnp.int32)

    def known(
        self, carry: MemberCarry, values: Float[np.ndarray, "step_sizes seeds bins *numbers"]
    ) -> Float[np.ndarray, "step_sizes seeds bins *numbers"]:
        """The values of a curve, NaN from the bin on in which a member diverged."""
        lost = lost_bins(np.asarray(carry.diverged_at), self.timeline.bin_ends)
        return np.where(lost.reshape(lost.shape + (1,) * (values.ndim - 3)), np.nan, values)

    def diverged(self, carry: MemberCarry) -> list[dict[str, Any]]:
        diverged_at = np.asarray(carry.diverged_at)
        return divergence_records(diverged_at, self.step_sizes, self.seeds, self.reason)
