"""The recurrent layers by name. All take the size of their input from the input itself."""

import flax.linen as nn

from untruncated import cells
from untruncated.catalogue.cells import (
    BlockDiagonalFields,
    LRUFields,
    NonlinearLRUFields,
    RTUFields,
)
from untruncated.layers.recurrent import Recurrent


class LinearRTU(Recurrent):
    """Linear recurrent trace unit: f([h1; h2]) of h' = λ h + γ W x. RTU paper, Eq. 2.

    Input (*batch, inputs), output (*batch, 2 width). Parameters: `nu` and `theta`, (width,);
    `w_real` and `w_imag`, (inputs, width).

    Attributes:
        width: Number of complex units.
        truncation: Learn through so many steps only (T-BPTT); None: exactly through all (RTRL).
        activation: f, one of "relu", "tanh", "identity".
        parameterisation: How λ is made of ν and θ: "exp_exp", "exp_exp_nu", "exp", "sigmoid" or
            "direct"; "exp" and "direct" need `constrain` after every update.
    """

    activation: str = RTUFields.activation
    parameterisation: str = RTUFields.parameterisation

    @nn.nowrap
    def make_cell(self, inputs: int) -> cells.LinearRTU:
        return cells.LinearRTU(inputs, self.width, self.activation, self.parameterisation)


class NonlinearRTU(Recurrent):
    """Nonlinear recurrent trace unit: [h1; h2] of h' = f(λ h + γ W x). RTU paper, Eqs. 4, 32.

    Shapes, parameters and attributes are those of `LinearRTU`.
    """

    activation: str = RTUFields.activation
    parameterisation: str = RTUFields.parameterisation

    @nn.nowrap
    def make_cell(self, inputs: int) -> cells.NonlinearRTU:
        return cells.NonlinearRTU(inputs, self.width, self.activation, self.parameterisation)


class LRU(Recurrent):
    """Linear recurrent unit: f(Re(C z) + D x) of z' = λ z + exp(γ_log) B x. RTU paper, Section 3.4.

    Input (*batch, inputs), output (*batch, outputs). Parameters: `nu`, `theta`, `gamma_log`,
    (width,); `b_real`, `b_imag`, (inputs, width); `c_real`, `c_imag`, (width, outputs); with
    `skip` also `d`, (inputs, outputs).

    Attributes:
        width: Number of complex units.
        truncation: Learn through so many steps only (T-BPTT); None: exactly through all (RTRL).
        outputs: Number of outputs; as many as units if None.
        skip: Whether there is a D.
        activation: f, one of "relu", "tanh", "identity".
        parameterisation: As for `LinearRTU`.
    """

    outputs: int | None = LRUFields.outputs
    skip: bool = LRUFields.skip
    activation: str = LRUFields.activation
    parameterisation: str = LRUFields.parameterisation

    @nn.nowrap
    def make_cell(self, inputs: int) -> cells.LRU:
        return cells.LRU(
            inputs, self.width, self.outputs, self.skip, self.activation, self.parameterisation
        )


class NonlinearLRU(Recurrent):
    """LRU with f inside the recurrence: Re(C z) + D x of z' = f(λ z + exp(γ_log) B x).

    f acts on real and imaginary part. Shapes, parameters and attributes are those of `LRU`. RTU
    paper, Section 4.1.
    """

    outputs: int | None = NonlinearLRUFields.outputs
    skip: bool = NonlinearLRUFields.skip
    activation: str = NonlinearLRUFields.activation
    parameterisation: str = NonlinearLRUFields.parameterisation

    @nn.nowrap
    def make_cell(self, inputs: int) -> cells.NonlinearLRU:
        return cells.NonlinearLRU(
            inputs, self.width, self.outputs, self.skip, self.activation, self.parameterisation
        )


class BlockDiagonal(Recurrent):
    """Free 2×2 blocks: f([h1; h2]) of h' = M h + [W1 x; W2 x], M = [[a, b], [c, d]] per unit.

    Input (*batch, inputs), output (*batch, 2 width). Parameters: `a`, `b`, `c`, `d`, (width,);
    `w1` and `w2`, (inputs, width). RTU paper, Appendix F.1.

    Attributes:
        width: Number of blocks.
        truncation: Learn through so many steps only (T-BPTT); None: exactly through all (RTRL).
        activation: f, one of "relu", "tanh", "identity".
        halved: Half the traces: exact only while the parameters do not change, and in float32
            ill-conditioned for blocks that turn and decay slowly. T-BPTT has no traces to halve.
    """

    activation: str = BlockDiagonalFields.activation
    halved: bool = BlockDiagonalFields.halved

    @nn.nowrap
    def make_cell(self, inputs: int) -> cells.BlockDiagonal:
        if self.halved and self.truncation is not None:
            raise ValueError("halved traces need exact RTRL: leave out halved or truncation")
        return cells.BlockDiagonal(inputs, self.width, self.activation, self.halved)


class GRU(Recurrent):
    """Gated recurrent unit, as Flax's `GRUCell`, learning by T-BPTT: `truncation` is required.

    Input (*batch, inputs), output (*batch, width). Parameters, gates side by side in the order
    reset, update, candidate: `w`, (inputs, 3 width); `u`, (width, 3 width); `bias`, (3 width,);
    `candidate_bias`, (width,).

    Attributes:
        width: Number of units.
        truncation: Number of steps to learn through.
    """

    @nn.nowrap
    def make_cell(self, inputs: int) -> cells.GRU:
        return cells.GRU(inputs, self.width)
