"""The recurrent cells that a YAML may name; their costs are counted in `costs`."""

from untruncated.catalogue import costs
from untruncated.catalogue.entry import CellEntry, Field
from untruncated.catalogue.traits import EIGENVALUES

_WIDTH = Field(int, minimum=1, meaning="number of units")
_PARAMETERISATION = Field(
    str,
    "exp_exp",
    choices=("exp_exp", "exp_exp_nu", "exp", "sigmoid", "direct"),
    meaning="how λ is written in terms of ν and θ (RTU paper, Appendix E.1)",
)
_OUTPUTS = Field(int, None, minimum=1, nullable=True, meaning="rows of C; as many as units if null")
_SKIP = Field(bool, False, meaning="adds D x to the output")


def _activation(default: str) -> Field:
    return Field(str, default, choices=("relu", "tanh", "identity"), meaning="the function f")


_ANY_CELL = ("truncated_bptt", "bptt", "dense_rtrl")
_WITH_TRACES = ("rtrl", *_ANY_CELL)

CELLS: dict[str, CellEntry] = {
    "linear_rtu": CellEntry(
        "untruncated.cells.linear_rtu:LinearRTU",
        {
            "width": _WIDTH,
            "activation": _activation("relu"),
            "parameterisation": _PARAMETERISATION,
        },
        credits=_WITH_TRACES,
        parameters=costs.rtu_parameters,
        flops=costs.linear_rtu_flops,
        reference={"parameterisation": "exp_exp"},
        separate_units=True,
    ),
    "nonlinear_rtu": CellEntry(
        "untruncated.cells.nonlinear_rtu:NonlinearRTU",
        {
            "width": _WIDTH,
            "activation": _activation("relu"),
            "parameterisation": _PARAMETERISATION,
        },
        credits=_WITH_TRACES,
        parameters=costs.rtu_parameters,
        flops=costs.nonlinear_rtu_flops,
        reference={"parameterisation": "exp_exp"},
        separate_units=True,
    ),
    "lru": CellEntry(
        "untruncated.cells.lru:LRU",
        {
            "width": _WIDTH,
            "outputs": _OUTPUTS,
            "skip": _SKIP,
            "activation": _activation("identity"),
            "parameterisation": _PARAMETERISATION,
        },
        credits=_WITH_TRACES,
        parameters=costs.lru_parameters,
        flops=costs.lru_flops,
        reference={},
    ),
    "nonlinear_lru": CellEntry(
        "untruncated.cells.nonlinear_lru:NonlinearLRU",
        {
            "width": _WIDTH,
            "outputs": _OUTPUTS,
            "skip": _SKIP,
            "activation": _activation("relu"),
            "parameterisation": _PARAMETERISATION,
        },
        credits=_WITH_TRACES,
        parameters=costs.lru_parameters,
        flops=costs.nonlinear_lru_flops,
    ),
    "block_diagonal": CellEntry(
        "untruncated.cells.block_diagonal:BlockDiagonal",
        {
            "width": _WIDTH,
            "activation": _activation("relu"),
            "halved": Field(
                bool,
                False,
                meaning="half the traces, exact only while the parameters do not change",
            ),
            "r_max": Field(
                float, 1.0, above=0, maximum=1, meaning="largest radius that blocks start from"
            ),
        },
        credits=_WITH_TRACES,
        parameters=costs.block_diagonal_parameters,
        flops=costs.block_diagonal_flops,
        trace_fields=("halved",),
    ),
    "gru": CellEntry(
        "untruncated.cells.gru:GRU",
        {"width": _WIDTH},
        credits=_ANY_CELL,
        parameters=costs.gru_parameters,
        flops=costs.gru_flops,
    ),
    "vanilla_rnn": CellEntry(
        "untruncated.cells.vanilla_rnn:VanillaRNN",
        {
            "width": _WIDTH,
            "activation": _activation("tanh"),
            "recurrent_init": Field(
                str,
                "orthogonal",
                choices=("orthogonal", "lecun_normal", "uniform"),
                meaning="how the recurrent weights start; uniform is on ±1/√units",
            ),
            "bias": Field(bool, False, meaning="adds a learned b, zero at the start"),
        },
        credits=_ANY_CELL,
        parameters=costs.vanilla_rnn_parameters,
        flops=costs.vanilla_rnn_flops,
        traits={EIGENVALUES: {"width": 3}},
    ),
}
