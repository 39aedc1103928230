"""What each gradient estimator costs and promises: PES paper, Table 1.

T steps of an inner problem, K steps of an unroll, N particles, S numbers of a state, P parameters,
F operations of a step forward and B of a step back. Methods that the suite does not have are here
for the table's sake, and so is memory as the paper has it, beside the law that measurements follow:
the paper leaves out θ itself, which evolution strategies hold once for every particle.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Sizes of an unrolled system and of how it is unrolled."""

    horizon: int
    truncation: int
    particles: int
    state: int
    parameters: int

    @property
    def forward(self) -> float:
        """F of a sparse system, in which every number of state and θ is used once in a step."""
        return self.state + self.parameters

    @property
    def both_ways(self) -> float:
        """F + B, where a step back costs two forward."""
        return 3 * self.forward


Formula = Callable[[Sizes], float]


@dataclass(frozen=True)
class Traits:
    """Cost of one gradient, as text and as formulas, and what the gradient is good for.

    `memory` is the paper's, and `numbers` its formula; of a method that the paper does not have,
    the suite's own. `measured` is the law that memory follows in the suite's Table 1, if it does.
    `operations` and `numbers` (held in memory) are None for a method that the suite does not have.
    `unbiased` is for the loss itself or for a smoothed one.
    """

    label: str
    compute: str
    memory: str
    parallel: bool
    unbiased: str
    nondifferentiable: bool
    smooths: bool
    operations: Formula | None = None
    numbers: Formula | None = None
    measured: str = "–"


def _rtrl_operations(size: Sizes) -> float:
    derivatives = min(size.state, size.parameters) * size.both_ways
    return size.state**2 * size.parameters + size.state * size.both_ways + derivatives


_PARTICLES = {
    "operations": lambda s: s.particles * s.truncation * s.forward,
    "numbers": lambda s: s.particles * (s.state + s.parameters),
}
# The paper has no parameters in the memory of plain ES.
_STATES = {"numbers": lambda s: s.particles * s.state, "measured": "N (S + P)"}
_RANDOM = {"parallel": True, "nondifferentiable": True, "smooths": True}
_EXACT = {"parallel": False, "nondifferentiable": False, "smooths": False}

# By the estimator's name in a YAML, or an abbreviation where there is no such estimator.
TRAITS: dict[str, Traits] = {
    "bptt": Traits(
        "BPTT",
        "T (F + B)",
        "T S",
        unbiased="yes",
        operations=lambda s: s.horizon * s.both_ways,
        numbers=lambda s: s.horizon * s.state,
        measured="T (S + P)",
        **_EXACT,
    ),
    "truncated_bptt": Traits(
        "truncated BPTT",
        "K (F + B)",
        "K S",
        unbiased="no",
        operations=lambda s: s.truncation * s.both_ways,
        numbers=lambda s: s.truncation * s.state,
        measured="K (S + P)",
        **_EXACT,
    ),
    "artbp": Traits("ARTBP *", "K (F + B) on average", "K S", unbiased="yes", **_EXACT),
    "rtrl": Traits(
        "RTRL, per step",
        "S²P + (S + min(S, P))(F + B)",
        "2 S P + S²",
        unbiased="yes",
        operations=_rtrl_operations,
        numbers=lambda s: 2 * s.state * s.parameters + s.state**2,
        measured="2 S P + S²",
        **_EXACT,
    ),
    "cell_traces": Traits(
        "exact traces, per step",
        "O(F + B)",
        "O(S + P)",
        unbiased="yes",
        operations=lambda s: s.both_ways,
        numbers=lambda s: s.state + s.parameters,
        **_EXACT,
    ),
    "uoro": Traits(
        "UORO, per step",
        "O(F + B)",
        "O(S + P)",
        unbiased="yes",
        operations=lambda s: 2 * s.both_ways,
        numbers=lambda s: s.state + s.parameters,
        measured="S + P",
        **_EXACT,
    ),
    "reparameterisation": Traits(
        "reparameterisation *",
        "N T (F + B)",
        "N T S",
        parallel=True,
        unbiased="smoothed",
        nondifferentiable=False,
        smooths=True,
    ),
    "full_es": Traits(
        "full ES",
        "N T F",
        "N S",
        unbiased="smoothed",
        operations=lambda s: s.particles * s.horizon * s.forward,
        **_STATES,
        **_RANDOM,
    ),
    "truncated_es": Traits(
        "truncated ES", "N K F", "N S", unbiased="no", **_PARTICLES | _STATES, **_RANDOM
    ),
    "es_single": Traits(
        "ES-Single", "N K F", "N (S + P)", unbiased="smoothed", **_PARTICLES, **_RANDOM
    ),
    "pes": Traits(
        "PES",
        "N K F",
        "N (S + P)",
        unbiased="smoothed",
        measured="N (S + P)",
        **_PARTICLES,
        **_RANDOM,
    ),
    "pes_analytic": Traits(
        "PES+Analytic",
        "N K F + K (F + B)",
        "N (S + P) + (K+1) S",
        parallel=True,
        unbiased="smoothed",
        nondifferentiable=False,
        smooths=True,
        operations=lambda s: s.truncation * (s.particles * s.forward + s.both_ways),
        numbers=lambda s: s.particles * (s.state + s.parameters) + (s.truncation + 1) * s.state,
        measured="N (S + P) + (K+1) S",
    ),
}
