"""The recurrent cells, with their parameter counts and floating-point operations per step.

Operations count a multiply-add as 2 and a transcendental as 1. RTRL: forward pass, trace update
and parameter gradient. T-BPTT: T forward steps and twice that for the way back, the read-out once.
Adam and the linear head, the same for all, are left out. n units, d inputs, m outputs.
"""

from collections.abc import Mapping
from typing import Any

from untruncated.catalogue.entry import CellEntry, Field

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


def _rtu_parameters(fields: Mapping[str, Any], inputs: int) -> int:
    return 2 * fields["width"] * inputs + 2 * fields["width"]


def _linear_rtu_flops(fields: Mapping[str, Any], d: int, credit: Mapping[str, Any]) -> int:
    n = fields["width"]
    if credit["name"] == "truncated_bptt":
        return 3 * credit["truncation"] * (4 * n * d + 10 * n) + 24 * n
    return 19 * n * d + 52 * n


def _nonlinear_rtu_flops(fields: Mapping[str, Any], d: int, credit: Mapping[str, Any]) -> int:
    n = fields["width"]
    if credit["name"] == "truncated_bptt":
        return 3 * credit["truncation"] * (4 * n * d + 12 * n) + 24 * n
    return 29 * n * d + 62 * n


def _lru_outputs(fields: Mapping[str, Any]) -> int:
    return fields["width"] if fields["outputs"] is None else fields["outputs"]


def _lru_parameters(fields: Mapping[str, Any], inputs: int) -> int:
    n, m = fields["width"], _lru_outputs(fields)
    return 3 * n + 2 * n * inputs + 2 * n * m + (inputs * m if fields["skip"] else 0)


def _lru_flops(fields: Mapping[str, Any], d: int, credit: Mapping[str, Any]) -> int:
    n, m = fields["width"], _lru_outputs(fields)
    read_out = 10 * n * m + (4 * d * m if fields["skip"] else 0)
    if credit["name"] == "truncated_bptt":
        return 3 * credit["truncation"] * (4 * n * d + 10 * n) + read_out + 24 * n
    return 19 * n * d + read_out + 52 * n


def _nonlinear_lru_flops(fields: Mapping[str, Any], d: int, credit: Mapping[str, Any]) -> int:
    n, m = fields["width"], _lru_outputs(fields)
    read_out = 10 * n * m + (4 * d * m if fields["skip"] else 0)
    if credit["name"] == "truncated_bptt":
        return 3 * credit["truncation"] * (4 * n * d + 12 * n) + read_out + 24 * n
    return 29 * n * d + read_out + 62 * n


def _block_diagonal_parameters(fields: Mapping[str, Any], inputs: int) -> int:
    return 2 * fields["width"] * inputs + 4 * fields["width"]


def _block_diagonal_flops(fields: Mapping[str, Any], d: int, credit: Mapping[str, Any]) -> int:
    n = fields["width"]
    if credit["name"] == "truncated_bptt":
        return 3 * credit["truncation"] * (4 * n * d + 8 * n) + 6 * n
    return 14 * n * d + 34 * n if fields["halved"] else 24 * n * d + 50 * n


def _gru_parameters(fields: Mapping[str, Any], inputs: int) -> int:
    h = fields["width"]
    return 3 * h * (inputs + h) + 4 * h


def _gru_flops(fields: Mapping[str, Any], d: int, credit: Mapping[str, Any]) -> int:
    h = fields["width"]
    return 3 * credit["truncation"] * (6 * h * (d + h) + 20 * h)


CELLS: dict[str, CellEntry] = {
    "linear_rtu": CellEntry(
        "untruncated.cells.linear_rtu:LinearRTU",
        {
            "width": _WIDTH,
            "activation": _activation("relu"),
            "parameterisation": _PARAMETERISATION,
        },
        credits=("rtrl", "truncated_bptt"),
        parameters=_rtu_parameters,
        flops=_linear_rtu_flops,
        reference={"parameterisation": "exp_exp"},
    ),
    "nonlinear_rtu": CellEntry(
        "untruncated.cells.nonlinear_rtu:NonlinearRTU",
        {
            "width": _WIDTH,
            "activation": _activation("relu"),
            "parameterisation": _PARAMETERISATION,
        },
        credits=("rtrl", "truncated_bptt"),
        parameters=_rtu_parameters,
        flops=_nonlinear_rtu_flops,
        reference={"parameterisation": "exp_exp"},
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
        credits=("rtrl", "truncated_bptt"),
        parameters=_lru_parameters,
        flops=_lru_flops,
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
        credits=("rtrl", "truncated_bptt"),
        parameters=_lru_parameters,
        flops=_nonlinear_lru_flops,
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
        },
        credits=("rtrl", "truncated_bptt"),
        parameters=_block_diagonal_parameters,
        flops=_block_diagonal_flops,
    ),
    "gru": CellEntry(
        "untruncated.cells.gru:GRU",
        {"width": _WIDTH},
        credits=("truncated_bptt",),
        parameters=_gru_parameters,
        flops=_gru_flops,
    ),
}
