"""The unrolled systems whose outer parameters a YAML may have learned."""

from dataclasses import dataclass
from typing import Annotated

from untruncated.catalogue.components import Discount, Distractors, Interval
from untruncated.catalogue.entry import Field, ProblemEntry
from untruncated.catalogue.record import Record, fields_of
from untruncated.catalogue.traits import LINEAR, PLANE, STATES

UNROLL_LOSSES = ("sum", "last", "telescoped")

_LONGEST = 2**30  # steps are counted in 32 bits
Horizon = Annotated[int, Field(minimum=1, maximum=_LONGEST, meaning="steps of an inner problem, T")]
HorizonOrNone = Annotated[
    int | None,
    Field(minimum=1, maximum=_LONGEST, meaning="steps of an inner problem, T; null never ends"),
]
UnrollLoss = Annotated[
    str,
    Field(
        choices=UNROLL_LOSSES,
        meaning="an unroll's loss: its steps' sum, the last step's, or that less the one before",
    ),
]
Parameters = Annotated[int, Field(minimum=1, meaning="P")]


@dataclass(frozen=True)
class InfluenceBalancingFields(Record):
    """Of a linear system whose parameter helps at first and harms in the long run."""

    units: Annotated[int, Field(minimum=1, meaning="numbers of the state")] = 23
    positive: Annotated[int, Field(minimum=0, meaning="units that θ pushes up")] = 10
    start: Annotated[float, Field(meaning="θ before the first iteration")] = 0.5
    horizon: HorizonOrNone = None
    unroll_loss: UnrollLoss = "last"


@dataclass(frozen=True)
class ToyRegressionFields(Record):
    """Of gradient descent in two dimensions, whose step sizes are learned."""

    horizon: Horizon = 100
    start_first: Annotated[float, Field(meaning="θ₀ before the first iteration")] = -4.0
    start_last: Annotated[float, Field(meaning="θ₁ before the first iteration")] = -4.0
    unroll_loss: UnrollLoss = "sum"


@dataclass(frozen=True)
class CoupledRingFields(Record):
    """Of a system of any size."""

    units: Annotated[int, Field(minimum=1, meaning="numbers of the state, S")] = 64
    parameters: Parameters = 64
    horizon: HorizonOrNone = 100
    unroll_loss: UnrollLoss = "sum"


@dataclass(frozen=True)
class ReturnPredictionFields(Record):
    """Of a recurrent cell that predicts returns on a recorded stream."""

    cell: Annotated[
        str,
        Field(
            choices=("linear_rtu", "nonlinear_rtu", "lru", "gru"),
            meaning="with the defaults of its other fields",
        ),
    ] = "linear_rtu"
    width: Annotated[int, Field(minimum=1, meaning="units")] = 8
    interval: Interval = 10
    distractors: Distractors = 10
    discount: Discount = 0.9
    horizon: Horizon = 100_000
    stream_seed: Annotated[int, Field(minimum=0, maximum=2**31 - 1, meaning="draws the stream")] = 0
    unroll_loss: UnrollLoss = "sum"
    recorded: Annotated[
        int | None,
        Field(
            minimum=1,
            meaning="steps of the stream, of which an inner problem has a part; T if null",
        ),
    ] = None


@dataclass(frozen=True)
class LinearLossesFields(Record):
    """Of losses that are linear in every unroll's copy of θ."""

    horizon: Horizon = 8
    parameters: Parameters = 3
    structure: Annotated[
        str,
        Field(
            choices=("diagonal", "upper_triangular"),
            meaning="which unrolls' parameters a loss depends on",
        ),
    ] = "upper_triangular"
    entries: Annotated[
        str,
        Field(
            choices=("identical", "independent"),
            meaning="gradients all the same, or drawn for each inner problem",
        ),
    ] = "independent"
    unroll_loss: UnrollLoss = "sum"


@dataclass(frozen=True)
class CharacterLSTMFields(Record):
    """Of a tiny LSTM that predicts the next character of a fixed text."""

    horizon: Horizon = 1000
    text: Annotated[
        str,
        Field(
            choices=("english", "penn_treebank", "random", "repeated"),
            meaning="what is predicted; the Penn Treebank must be on the machine",
        ),
    ] = "english"
    units: Annotated[int, Field(minimum=1, meaning="of the LSTM")] = 5
    embedding: Annotated[int, Field(minimum=1, meaning="numbers that stand for a character")] = 5
    vocabulary: Annotated[int, Field(minimum=1, meaning="characters that are told apart")] = 50
    unroll_loss: UnrollLoss = "sum"


PROBLEMS: dict[str, ProblemEntry] = {
    "influence_balancing": ProblemEntry(
        "untruncated.problems.influence_balancing:InfluenceBalancing",
        fields_of(InfluenceBalancingFields),
    ),
    "toy_regression": ProblemEntry(
        "untruncated.problems.toy_regression:ToyRegression",
        fields_of(ToyRegressionFields),
        traits={PLANE: {}, STATES: {}},
    ),
    "coupled_ring": ProblemEntry(
        "untruncated.problems.coupled_ring:CoupledRing", fields_of(CoupledRingFields)
    ),
    "return_prediction": ProblemEntry(
        "untruncated.problems.return_prediction:ReturnPrediction",
        fields_of(ReturnPredictionFields),
        cell=lambda fields: fields["cell"],
    ),
    "linear_losses": ProblemEntry(
        "untruncated.problems.linear_losses:LinearLosses",
        fields_of(LinearLossesFields),
        traits={LINEAR: {}},
    ),
    "character_lstm": ProblemEntry(
        "untruncated.problems.character_lstm:CharacterLSTM", fields_of(CharacterLSTMFields)
    ),
}
