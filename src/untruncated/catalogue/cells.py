"""The recurrent cells that a YAML may name; their costs are counted in `costs`."""

from dataclasses import dataclass
from typing import Annotated

from untruncated.catalogue import costs
from untruncated.catalogue.entry import CellEntry, Field
from untruncated.catalogue.record import Record, fields_of
from untruncated.catalogue.traits import EIGENVALUES

PARAMETERISATIONS = ("exp_exp", "exp_exp_nu", "exp", "sigmoid", "direct")

Width = Annotated[int, Field(minimum=1, meaning="number of units")]
Activation = Annotated[str, Field(choices=("relu", "tanh", "identity"), meaning="the function f")]
Parameterisation = Annotated[
    str,
    Field(
        choices=PARAMETERISATIONS,
        meaning="how λ is written in terms of ν and θ (RTU paper, Appendix E.1)",
    ),
]


@dataclass(frozen=True)
class RTUFields(Record):
    """Of the linear and the nonlinear RTU."""

    inputs: int
    width: Width
    activation: Activation = "relu"
    parameterisation: Parameterisation = "exp_exp"


@dataclass(frozen=True)
class LRUFields(Record):
    """Of the LRU."""

    inputs: int
    width: Width
    outputs: Annotated[
        int | None, Field(minimum=1, meaning="rows of C; as many as units if null")
    ] = None
    skip: Annotated[bool, Field(meaning="adds D x to the output")] = False
    activation: Activation = "identity"
    parameterisation: Parameterisation = "exp_exp"


@dataclass(frozen=True)
class NonlinearLRUFields(LRUFields):
    """Of the LRU with an activation inside its recurrence."""

    activation: Activation = "relu"


@dataclass(frozen=True)
class BlockDiagonalFields(Record):
    """Of the layer of free 2×2 blocks."""

    inputs: int
    width: Width
    activation: Activation = "relu"
    halved: Annotated[
        bool, Field(meaning="half the traces, exact only while the parameters do not change")
    ] = False
    r_max: Annotated[
        float, Field(above=0, maximum=1, meaning="largest radius that blocks start from")
    ] = 1.0


@dataclass(frozen=True)
class GRUFields(Record):
    """Of the GRU."""

    inputs: int
    width: Width


@dataclass(frozen=True)
class FeedforwardFields(Record):
    """Of the layer without recurrence."""

    inputs: int
    width: Width
    activation: Activation = "relu"


@dataclass(frozen=True)
class VanillaRNNFields(Record):
    """Of the plain recurrent network."""

    inputs: int
    width: Width
    activation: Activation = "tanh"
    recurrent_init: Annotated[
        str,
        Field(
            choices=("orthogonal", "lecun_normal", "uniform"),
            meaning="how the recurrent weights start; uniform is on ±1/√units",
        ),
    ] = "orthogonal"
    bias: Annotated[bool, Field(meaning="adds a learned b, zero at the start")] = False


_ANY_CELL = ("truncated_bptt", "bptt", "dense_rtrl")
_WITH_TRACES = ("rtrl", *_ANY_CELL)

CELLS: dict[str, CellEntry] = {
    "linear_rtu": CellEntry(
        "untruncated.cells.linear_rtu:LinearRTU",
        fields_of(RTUFields),
        credits=_WITH_TRACES,
        parameters=costs.rtu_parameters,
        flops=costs.linear_rtu_flops,
        reference={"parameterisation": "exp_exp"},
        separate_units=True,
    ),
    "nonlinear_rtu": CellEntry(
        "untruncated.cells.nonlinear_rtu:NonlinearRTU",
        fields_of(RTUFields),
        credits=_WITH_TRACES,
        parameters=costs.rtu_parameters,
        flops=costs.nonlinear_rtu_flops,
        reference={"parameterisation": "exp_exp"},
        separate_units=True,
    ),
    "lru": CellEntry(
        "untruncated.cells.lru:LRU",
        fields_of(LRUFields),
        credits=_WITH_TRACES,
        parameters=costs.lru_parameters,
        flops=costs.lru_flops,
        reference={},
    ),
    "nonlinear_lru": CellEntry(
        "untruncated.cells.nonlinear_lru:NonlinearLRU",
        fields_of(NonlinearLRUFields),
        credits=_WITH_TRACES,
        parameters=costs.lru_parameters,
        flops=costs.nonlinear_lru_flops,
    ),
    "block_diagonal": CellEntry(
        "untruncated.cells.block_diagonal:BlockDiagonal",
        fields_of(BlockDiagonalFields),
        credits=_WITH_TRACES,
        parameters=costs.block_diagonal_parameters,
        flops=costs.block_diagonal_flops,
        trace_fields=("halved",),
    ),
    "gru": CellEntry(
        "untruncated.cells.gru:GRU",
        fields_of(GRUFields),
        credits=_ANY_CELL,
        parameters=costs.gru_parameters,
        flops=costs.gru_flops,
    ),
    "feedforward": CellEntry(
        "untruncated.cells.feedforward:Feedforward",
        fields_of(FeedforwardFields),
        credits=_ANY_CELL,
        parameters=costs.feedforward_parameters,
        flops=costs.feedforward_flops,
    ),
    "vanilla_rnn": CellEntry(
        "untruncated.cells.vanilla_rnn:VanillaRNN",
        fields_of(VanillaRNNFields),
        credits=_ANY_CELL,
        parameters=costs.vanilla_rnn_parameters,
        flops=costs.vanilla_rnn_flops,
        traits={EIGENVALUES: {"width": 3}},
    ),
}
