"""A recurrent layer of 2×2 real blocks that are not constrained to be rotations."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.nn.initializers import lecun_normal
from jaxtyping import Array, Float, PRNGKeyArray

from untruncated.catalogue.cells import BlockDiagonalFields
from untruncated.cells import block_traces as traces_of
from untruncated.cells import rollout_gradients
from untruncated.cells.activations import ACTIVATIONS
from untruncated.cells.block_traces import Block, BlockState, BlockTraces, HalvedTraces
from untruncated.cells.rotation import init_rotation, rotation


class BlockDiagonalParameters(NamedTuple):
    """a, b, c, d: (units,); W1 and W2 transposed, shape (inputs, units), as Flax's kernels."""

    a: Float[Array, " units"]
    b: Float[Array, " units"]
    c: Float[Array, " units"]
    d: Float[Array, " units"]
    w1: Float[Array, "inputs units"]
    w2: Float[Array, "inputs units"]


@dataclass(frozen=True)
class BlockDiagonal(BlockDiagonalFields):
    """h' = M h + [W1 x; W2 x], M = [[a, b], [c, d]] per unit, features f([h1; h2]).

    RTU paper, Appendix F.1. There is no input scale γ: without a radius nothing defines it.
    `r_max` bounds the radius that blocks start from: nothing keeps them inside the unit disc later.
    `halved` carries half the traces, which is exact only while the parameters do not change, and
    in float32 ill-conditioned for slow blocks: see `block_traces`.
    """

    @property
    def feature_sizes(self) -> tuple[int, ...]:
        return self.width, self.width

    def init(self, key: PRNGKeyArray) -> BlockDiagonalParameters:
        """Blocks that rotate and shrink as a new RTU's do; W1 and W2 LeCun normal, no bias."""
        rotation_key, first_key, second_key = jax.random.split(key, 3)
        drawn = init_rotation("exp_exp", rotation_key, self.width, r_max=self.r_max)
        g, phi, *_ = rotation("exp_exp", *drawn)
        kernel, shape = lecun_normal(), (self.inputs, self.width)
        return BlockDiagonalParameters(
            g, -phi, phi, g, kernel(first_key, shape), kernel(second_key, shape)
        )

    def initial_state(self) -> BlockState:
        return BlockState(jnp.zeros(self.width), jnp.zeros(self.width))

    def derive(self, params: BlockDiagonalParameters) -> Block:
        return Block(params.a, params.b, params.c, params.d)

    def drive(
        self, params: BlockDiagonalParameters, derived: Block, x: Float[Array, "*time inputs"]
    ) -> BlockState:
        return BlockState(x @ params.w1, x @ params.w2)

    def step(
        self, params: BlockDiagonalParameters, derived: Block, state: BlockState, drive: BlockState
    ) -> BlockState:
        first, second = traces_of.multiply(derived, state.first, state.second)
        return BlockState(first + drive.first, second + drive.second)

    def features(
        self, params: BlockDiagonalParameters, state: BlockState, x: Float[Array, " inputs"]
    ) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
        function = ACTIVATIONS[self.activation].function
        return function(state.first), function(state.second)

    def constrain(self, params: BlockDiagonalParameters) -> BlockDiagonalParameters:
        return params

    def initial_traces(self) -> BlockTraces | HalvedTraces:
        zero = traces_of.zero_halved_traces if self.halved else traces_of.zero_traces
        return zero(self.inputs, self.width)

    def advance(
        self,
        params: BlockDiagonalParameters,
        derived: Block,
        traces: BlockTraces | HalvedTraces,
        before: BlockState,
        after: BlockState,
        x: Float[Array, " inputs"],
    ) -> BlockTraces | HalvedTraces:
        advance = traces_of.advance_halved if self.halved else traces_of.advance
        return advance(derived, traces, before, x)

    def contract(
        self,
        params: BlockDiagonalParameters,
        derived: Block,
        traces: BlockTraces | HalvedTraces,
        state: BlockState,
        cotangent: BlockState,
    ) -> BlockDiagonalParameters:
        if self.halved:
            return BlockDiagonalParameters(*traces_of.contract_halved(derived, traces, cotangent))
        return BlockDiagonalParameters(*traces_of.contract(traces, cotangent))

    def pull_back(self, derived: Block, after: BlockState, cotangent: BlockState) -> BlockState:
        return rollout_gradients.block_pull_back(derived, cotangent)

    def immediate_gradient(
        self,
        params: BlockDiagonalParameters,
        derived: Block,
        before: BlockState,
        after: BlockState,
        x: Float[Array, "steps inputs"],
        cotangents: BlockState,
    ) -> BlockDiagonalParameters:
        added = rollout_gradients.block_immediate_gradient(before, x, cotangents)
        return BlockDiagonalParameters(*added)

    def trace_gradient(self, traces: BlockTraces, cotangent: BlockState) -> BlockDiagonalParameters:
        """As `contract`; halved traces would need the block of the time at which it is asked."""
        if self.halved:
            raise ValueError("halved traces are exact only while parameters do not change")
        return BlockDiagonalParameters(*traces_of.contract(traces, cotangent))

    def parameter_gradient(
        self,
        params: BlockDiagonalParameters,
        derived: Block,
        gradient: BlockDiagonalParameters,
        states: BlockState,
        cotangents: BlockState,
    ) -> BlockDiagonalParameters:
        return gradient
