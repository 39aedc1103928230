"""What the recurrent cells cost: learned numbers, and floating-point operations per step.

Operations count a multiply-add as 2 and a transcendental as 1; Adam and the head, the same for all
cells, are left out. n units (h where they mix), d inputs, m outputs; F operations of one forward
step, R of what is done once per step whatever the credit assignment: eigenvalues, read-out.

* RTRL: forward pass, trace update and parameter gradient.
* T-BPTT: T forward steps and twice that for the way back, 3 T F + R. BPTT unrolls all steps of the
  run: T is their number.
* Dense RTRL, with s numbers in the state and P parameters: one step back for each number, then the
  product of the s × s and s × P Jacobians and the gradient, (1 + 2s) F + (2s² + 3s) P.
"""

from collections.abc import Mapping
from typing import Any

Fields = Mapping[str, Any]


def _without_traces(credit: Fields, forward: int, once: int, state: int, parameters: int) -> int:
    if credit["name"] == "dense_rtrl":
        return (1 + 2 * state) * forward + (2 * state**2 + 3 * state) * parameters
    return 3 * credit["truncation"] * forward + once


def rtu_parameters(fields: Fields, d: int) -> int:
    """ν, θ, W1 and W2."""
    return 2 * fields["width"] * d + 2 * fields["width"]


def linear_rtu_flops(fields: Fields, d: int, credit: Fields) -> int:
    """RTRL with halved traces."""
    n = fields["width"]
    if credit["name"] == "rtrl":
        return 19 * n * d + 52 * n
    return _without_traces(credit, 4 * n * d + 10 * n, 24 * n, 2 * n, rtu_parameters(fields, d))


def nonlinear_rtu_flops(fields: Fields, d: int, credit: Fields) -> int:
    """RTRL with traces of W1 and of W2."""
    n = fields["width"]
    if credit["name"] == "rtrl":
        return 29 * n * d + 62 * n
    return _without_traces(credit, 4 * n * d + 12 * n, 24 * n, 2 * n, rtu_parameters(fields, d))


def _outputs(fields: Fields) -> int:
    return fields["width"] if fields["outputs"] is None else fields["outputs"]


def lru_parameters(fields: Fields, d: int) -> int:
    """ν, θ, γ_log, B, C and, with a skip connection, D."""
    n, m = fields["width"], _outputs(fields)
    return 3 * n + 2 * n * d + 2 * n * m + (d * m if fields["skip"] else 0)


def _read_out(fields: Fields, d: int) -> int:
    m = _outputs(fields)
    return 10 * fields["width"] * m + (4 * d * m if fields["skip"] else 0)


def lru_flops(fields: Fields, d: int, credit: Fields) -> int:
    """As the linear RTU, and the read-out with the function on it, forward and back."""
    n, once = fields["width"], _read_out(fields, d)
    if fields["activation"] != "identity":
        once += 2 * _outputs(fields)
    if credit["name"] == "rtrl":
        return 19 * n * d + once + 52 * n
    parameters = lru_parameters(fields, d)
    return _without_traces(credit, 4 * n * d + 10 * n, once + 24 * n, 2 * n, parameters)


def nonlinear_lru_flops(fields: Fields, d: int, credit: Fields) -> int:
    """As the nonlinear RTU, and the read-out."""
    n, once = fields["width"], _read_out(fields, d)
    if credit["name"] == "rtrl":
        return 29 * n * d + once + 62 * n
    parameters = lru_parameters(fields, d)
    return _without_traces(credit, 4 * n * d + 12 * n, once + 24 * n, 2 * n, parameters)


def block_diagonal_parameters(fields: Fields, d: int) -> int:
    """a, b, c, d, W1 and W2."""
    return 2 * fields["width"] * d + 4 * fields["width"]


def block_diagonal_flops(fields: Fields, d: int, credit: Fields) -> int:
    """RTRL with six pairs of traces, or with the halved ones."""
    n = fields["width"]
    if credit["name"] == "rtrl":
        return 14 * n * d + 34 * n if fields["halved"] else 24 * n * d + 50 * n
    parameters = block_diagonal_parameters(fields, d)
    return _without_traces(credit, 4 * n * d + 8 * n, 6 * n, 2 * n, parameters)


def gru_parameters(fields: Fields, d: int) -> int:
    """Three gates with a bias, and the candidate's second bias."""
    h = fields["width"]
    return 3 * h * (d + h) + 4 * h


def gru_flops(fields: Fields, d: int, credit: Fields) -> int:
    """Three matrix products with inputs and with state."""
    h = fields["width"]
    return _without_traces(credit, 6 * h * (d + h) + 20 * h, 0, h, gru_parameters(fields, d))


def feedforward_parameters(fields: Fields, d: int) -> int:
    """W and b."""
    return fields["width"] * (d + 1)


def feedforward_flops(fields: Fields, d: int, credit: Fields) -> int:
    """One matrix product with inputs."""
    h = fields["width"]
    return _without_traces(credit, 2 * h * d + 2 * h, 0, h, feedforward_parameters(fields, d))


def vanilla_rnn_parameters(fields: Fields, d: int) -> int:
    """W_x, W_h and, with a bias, b."""
    h = fields["width"]
    return h * (d + h) + (h if fields["bias"] else 0)


def vanilla_rnn_flops(fields: Fields, d: int, credit: Fields) -> int:
    """One matrix product with inputs and with state; a bias is one more sum for each unit."""
    h = fields["width"]
    forward = 2 * h * (d + h) + (3 * h if fields["bias"] else 2 * h)
    return _without_traces(credit, forward, 0, h, vanilla_rnn_parameters(fields, d))
