"""Everything but the cells that a YAML may name: environments, credit assignments, learners."""

from untruncated.catalogue.entry import CreditEntry, Entry, EnvironmentEntry, Field
from untruncated.catalogue.traits import IMMEDIATE, OPTIMUM, STREAM, SYMBOLS

_DISCOUNT = Field(float, 0.966, minimum=0, below=1, meaning="discount of the predicted return")
_HIDDEN = Field(
    int,
    0,
    minimum=0,
    maximum=1_000_000,
    meaning="tanh units between the features and the prediction; none if 0",
)

ENVIRONMENTS: dict[str, EnvironmentEntry] = {
    "trace_conditioning": EnvironmentEntry(
        "untruncated.environments.trace_conditioning:TraceConditioning",
        {
            "interval": Field(
                int, 30, minimum=7, maximum=1000, meaning="mean steps from CS to US, E"
            ),
            "distractors": Field(int, 10, minimum=0, maximum=1000),
        },
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
        {"truncation": Field(int, minimum=1, meaning="inputs unrolled at every step, T")},
    ),
    "bptt": CreditEntry(
        "untruncated.estimators.online.truncated_bptt:TruncatedBPTT", longest_run=2_000
    ),
}

LEARNERS: dict[str, Entry] = {
    "td": Entry(
        "untruncated.agents.td_predictor:TDPredictor",
        {
            "discount": _DISCOUNT,
            "trace_decay": Field(
                float, 0.9, minimum=0, maximum=1, meaning="λ of TD(λ), 0 for TD(0)"
            ),
            "hidden": _HIDDEN,
        },
        traits={IMMEDIATE: {}},
    ),
    "delayed_return": Entry(
        "untruncated.agents.delayed_return_predictor:DelayedReturnPredictor",
        {
            "discount": _DISCOUNT,
            "delay": Field(int, 300, minimum=1, meaning="steps waited for the return"),
            "hidden": _HIDDEN,
        },
    ),
}
