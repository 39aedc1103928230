"""The gradient estimators for unrolled systems, and the optimisers of outer parameters."""

from dataclasses import dataclass

from untruncated.catalogue.entry import Entry, Field


@dataclass(frozen=True)
class EstimatorEntry(Entry):
    """An estimator, and what it needs.

    `derivatives`: steps that can be differentiated. `whole`: inner problems that end, because it
    unrolls whole ones. `traces`: a problem that is a cell with traces. `has_reference`: it takes
    `fidelity`, since the papers' public code differs.
    """

    derivatives: bool = False
    whole: bool = False
    traces: bool = False
    has_reference: bool = True


_PARTICLES = Field(
    int, minimum=2, multiple_of=2, meaning="N, both halves of the antithetic pairs counted"
)
# Its square, by which estimates are divided, is to be a float32 as well.
SIGMA = Field(
    float, above=0, minimum=1e-18, maximum=1e18, meaning="standard deviation of perturbations"
)
_TRUNCATION = Field(int, minimum=1, meaning="steps per unroll, K")
_TRUNCATED_ES = {"particles": _PARTICLES, "sigma": SIGMA, "truncation": _TRUNCATION}

ESTIMATORS: dict[str, EstimatorEntry] = {
    "full_es": EstimatorEntry(
        "untruncated.estimators.evolution_strategies:FullES",
        {"particles": _PARTICLES, "sigma": SIGMA},
        whole=True,
        has_reference=False,
    ),
    "truncated_es": EstimatorEntry(
        "untruncated.estimators.evolution_strategies:TruncatedES", _TRUNCATED_ES
    ),
    "pes": EstimatorEntry("untruncated.estimators.persistent_es:PES", _TRUNCATED_ES),
    "es_single": EstimatorEntry("untruncated.estimators.persistent_es:ESSingle", _TRUNCATED_ES),
    "pes_analytic": EstimatorEntry(
        "untruncated.estimators.persistent_es:PESAnalytic",
        {
            **_TRUNCATED_ES,
            "form": Field(
                str,
                "A",
                choices=("A", "B"),
                meaning="whether ES leaves out the newest unroll (A) or covers it too (B)",
            ),
        },
        derivatives=True,
    ),
    "bptt": EstimatorEntry(
        "untruncated.estimators.unrolled_backpropagation:UnrolledBPTT",
        derivatives=True,
        whole=True,
        has_reference=False,
    ),
    "truncated_bptt": EstimatorEntry(
        "untruncated.estimators.unrolled_backpropagation:UnrolledTruncatedBPTT",
        {"truncation": _TRUNCATION},
        derivatives=True,
    ),
    "rtrl": EstimatorEntry(
        "untruncated.estimators.unrolled_rtrl:UnrolledRTRL", derivatives=True, has_reference=False
    ),
    "cell_traces": EstimatorEntry(
        "untruncated.estimators.cell_traces:CellTraces",
        derivatives=True,
        traces=True,
        has_reference=False,
    ),
    "uoro": EstimatorEntry("untruncated.estimators.uoro:UORO", derivatives=True),
}

_CLIP = Field(
    float, None, above=0, nullable=True, meaning="largest size of a gradient's coordinate"
)

OPTIMISERS: dict[str, Entry] = {
    "adam": Entry(
        "untruncated.programs.optimisers:adam",
        {
            "b1": Field(float, 0.9, minimum=0, below=1),
            "b2": Field(float, 0.999, minimum=0, below=1),
            "epsilon": Field(float, 1e-8, minimum=0),
            "clip": _CLIP,
        },
    ),
    "sgd": Entry(
        "untruncated.programs.optimisers:sgd",
        {"momentum": Field(float, 0.0, minimum=0, below=1), "clip": _CLIP},
    ),
}
