"""The gradient estimators for unrolled systems, and the optimisers of outer parameters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from untruncated.catalogue.entry import Entry, EstimatorEntry, Field
from untruncated.catalogue.estimator_traits import TRAITS, Sizes
from untruncated.catalogue.record import Record, fields_of


def _costs(name: str) -> dict[str, Callable[[Sizes], float]]:
    """As the table of all estimators has them."""
    return {"operations": TRAITS[name].operations, "numbers": TRAITS[name].numbers}


Particles = Annotated[
    int,
    Field(minimum=2, multiple_of=2, meaning="N, both halves of the antithetic pairs counted"),
]
# Its square, by which estimates are divided, is to be a float32 as well.
Sigma = Annotated[
    float,
    Field(above=0, minimum=1e-18, maximum=1e18, meaning="standard deviation of perturbations"),
]
Truncation = Annotated[int, Field(minimum=1, meaning="steps per unroll, K")]


@dataclass(frozen=True)
class FullESFields(Record):
    """Of ES over whole inner problems."""

    particles: Particles
    sigma: Sigma


@dataclass(frozen=True)
class TruncatedESFields(FullESFields):
    """Of evolution strategies over truncated unrolls."""

    truncation: Truncation


@dataclass(frozen=True)
class PESAnalyticFields(TruncatedESFields):
    """Of PES whose newest unroll is differentiated."""

    form: Annotated[
        str,
        Field(
            choices=("A", "B"),
            meaning="whether ES leaves out the newest unroll (A) or covers it too (B)",
        ),
    ] = "A"


@dataclass(frozen=True)
class UnrolledTruncatedBPTTFields(Record):
    """Of backpropagation through truncated unrolls."""

    truncation: Truncation


ESTIMATORS: dict[str, EstimatorEntry] = {
    "full_es": EstimatorEntry(
        "untruncated.estimators.unrolled.evolution_strategies:FullES",
        fields_of(FullESFields),
        whole=True,
        **_costs("full_es"),
    ),
    "truncated_es": EstimatorEntry(
        "untruncated.estimators.unrolled.evolution_strategies:TruncatedES",
        fields_of(TruncatedESFields),
        has_reference=True,
        **_costs("truncated_es"),
    ),
    "pes": EstimatorEntry(
        "untruncated.estimators.unrolled.pes:PES",
        fields_of(TruncatedESFields),
        has_reference=True,
        **_costs("pes"),
    ),
    "es_single": EstimatorEntry(
        "untruncated.estimators.unrolled.es_single:ESSingle",
        fields_of(TruncatedESFields),
        has_reference=True,
        **_costs("es_single"),
    ),
    "pes_analytic": EstimatorEntry(
        "untruncated.estimators.unrolled.pes_analytic:PESAnalytic",
        fields_of(PESAnalyticFields),
        derivatives=True,
        has_reference=True,
        **_costs("pes_analytic"),
    ),
    "bptt": EstimatorEntry(
        "untruncated.estimators.unrolled.backpropagation:UnrolledBPTT",
        derivatives=True,
        whole=True,
        **_costs("bptt"),
    ),
    "truncated_bptt": EstimatorEntry(
        "untruncated.estimators.unrolled.backpropagation:UnrolledTruncatedBPTT",
        fields_of(UnrolledTruncatedBPTTFields),
        derivatives=True,
        has_reference=True,
        **_costs("truncated_bptt"),
    ),
    "rtrl": EstimatorEntry(
        "untruncated.estimators.unrolled.rtrl:UnrolledRTRL",
        derivatives=True,
        **_costs("rtrl"),
    ),
    "cell_traces": EstimatorEntry(
        "untruncated.estimators.unrolled.cell_traces:CellTraces",
        derivatives=True,
        traces=True,
        **_costs("cell_traces"),
    ),
    "uoro": EstimatorEntry(
        "untruncated.estimators.unrolled.uoro:UORO",
        derivatives=True,
        has_reference=True,
        **_costs("uoro"),
    ),
}

Clip = Annotated[float | None, Field(above=0, meaning="largest size of a gradient's coordinate")]


@dataclass(frozen=True)
class AdamFields(Record):
    """Of Adam."""

    b1: Annotated[float, Field(minimum=0, below=1, meaning="decay of the mean")] = 0.9
    b2: Annotated[float, Field(minimum=0, below=1, meaning="decay of the mean square")] = 0.999
    epsilon: Annotated[float, Field(minimum=0, meaning="added to its root")] = 1e-8
    clip: Clip = None


@dataclass(frozen=True)
class SGDFields(Record):
    """Of steps along the gradient."""

    momentum: Annotated[
        float, Field(minimum=0, below=1, meaning="share of the last step that is kept")
    ] = 0.0
    clip: Clip = None


OPTIMISERS: dict[str, Entry] = {
    "adam": Entry("untruncated.agents.optimisers:adam", fields_of(AdamFields)),
    "sgd": Entry("untruncated.agents.optimisers:sgd", fields_of(SGDFields)),
}
