"""Everything but the cells that a YAML may name: environments, credit assignments, learners."""

from dataclasses import dataclass
from typing import Annotated, Any

from untruncated.catalogue.entry import CreditEntry, Entry, EnvironmentEntry, Field
from untruncated.catalogue.record import Record, fields_of
from untruncated.catalogue.traits import IMMEDIATE, OPTIMUM, PREDICTION, STREAM, SYMBOLS

Discount = Annotated[float, Field(minimum=0, below=1, meaning="discount of the predicted return")]
Distractors = Annotated[int, Field(minimum=0, maximum=1000, meaning="stimuli that predict nothing")]
# The shortest for which the CS is off when the US comes on.
Interval = Annotated[int, Field(minimum=7, maximum=1000, meaning="mean steps from CS to US, E")]
Hidden = Annotated[
    int,
    Field(
        minimum=0,
        maximum=1_000_000,
        meaning="tanh units between the features and the prediction; none if 0",
    ),
]


@dataclass(frozen=True)
class TraceConditioningFields(Record):
    """Of trace conditioning."""

    interval: Interval = 30
    distractors: Distractors = 10


@dataclass(frozen=True)
class TruncatedBPTTFields(Record):
    """Of online truncated backpropagation through time."""

    cell: Any
    truncation: Annotated[int, Field(minimum=1, meaning="inputs unrolled at every step, T")]


@dataclass(frozen=True)
class TDFields(Record):
    """Of TD(λ)."""

    cell: Any
    gradient: Any
    discount: Discount = 0.966
    trace_decay: Annotated[
        float, Field(minimum=0, maximum=1, meaning="λ of TD(λ), 0 for TD(0)")
    ] = 0.9
    hidden: Hidden = 0


@dataclass(frozen=True)
class DelayedReturnFields(Record):
    """Of the regression on a return that is waited for."""

    cell: Any
    gradient: Any
    discount: Discount = 0.966
    delay: Annotated[int, Field(minimum=1, meaning="steps waited for the return")] = 300
    hidden: Hidden = 0


ENVIRONMENTS: dict[str, EnvironmentEntry] = {
    "trace_conditioning": EnvironmentEntry(
        "untruncated.environments.trace_conditioning:TraceConditioning",
        fields_of(TraceConditioningFields),
        observation_size=lambda fields: 2 + fields["distractors"],
        traits={STREAM: {}, OPTIMUM: {}},
    ),
    "three_state_mdp": EnvironmentEntry(
        "untruncated.environments.three_state_mdp:ThreeStateMDP",
        observation_size=lambda fields: 3,
        traits={SYMBOLS: {}},
    ),
}

CREDITS: dict[str, CreditEntry] = {
    "rtrl": CreditEntry("untruncated.estimators.online.traces:RTRL"),
    "dense_rtrl": CreditEntry("untruncated.estimators.online.dense_rtrl:DenseRTRL"),
    "truncated_bptt": CreditEntry(
        "untruncated.estimators.online.truncated_bptt:TruncatedBPTT",
        fields_of(TruncatedBPTTFields),
    ),
    "bptt": CreditEntry(
        "untruncated.estimators.online.truncated_bptt:TruncatedBPTT", longest_run=2_000
    ),
}

LEARNERS: dict[str, Entry] = {
    "td": Entry(
        "untruncated.agents.td_predictor:TDPredictor",
        fields_of(TDFields),
        traits={PREDICTION: {}, IMMEDIATE: {}},
    ),
    "delayed_return": Entry(
        "untruncated.agents.delayed_return_predictor:DelayedReturnPredictor",
        fields_of(DelayedReturnFields),
        traits={PREDICTION: {}},
    ),
}
