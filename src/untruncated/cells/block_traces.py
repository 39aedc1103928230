"""Exact RTRL traces of h' = M h + [W1 x; W2 x], where M is a 2×2 block [[a, b], [c, d]] per unit.

A pair is (first component, second component). Six pairs per unit are carried plainly. The halved
form writes Σ Mᵏ u as α I + β M, by the theorem of Cayley and Hamilton, with one (α, β) for each
u = h1, h2 and x: half the numbers, but exact only while M does not change, and in float32
ill-conditioned where M is close to a multiple of the identity (units that turn and decay slowly).
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

Pair = tuple[Float[Array, "..."], Float[Array, "..."]]


class BlockState(NamedTuple):
    """h1 and h2, both of shape (units,)."""

    first: Float[Array, " units"]
    second: Float[Array, " units"]


class Block(NamedTuple):
    """M = [[a, b], [c, d]] of every unit, all of shape (units,)."""

    a: Float[Array, " units"]
    b: Float[Array, " units"]
    c: Float[Array, " units"]
    d: Float[Array, " units"]


class BlockTraces(NamedTuple):
    """∂(h1, h2)/∂ of a, b, c and d, arrays of shape (units,), and of W1 and W2, (inputs, units)."""

    a: Pair
    b: Pair
    c: Pair
    d: Pair
    w1: Pair
    w2: Pair


class HalvedTraces(NamedTuple):
    """(α, β) of h1 and h2, arrays of shape (units,), and of x, arrays of shape (inputs, units)."""

    first: Pair
    second: Pair
    x: Pair


def zero_traces(inputs: int, units: int) -> BlockTraces:
    """The traces of a state that does not depend on the parameters."""
    vector, matrix = jnp.zeros(units), jnp.zeros((inputs, units))
    return BlockTraces(*[(vector, vector)] * 4, *[(matrix, matrix)] * 2)


def zero_halved_traces(inputs: int, units: int) -> HalvedTraces:
    """As `zero_traces`."""
    vector, matrix = jnp.zeros(units), jnp.zeros((inputs, units))
    return HalvedTraces((vector, vector), (vector, vector), (matrix, matrix))


def multiply(block: Block, first: Float[Array, "..."], second: Float[Array, "..."]) -> Pair:
    """M (first, second)."""
    return block.a * first + block.b * second, block.c * first + block.d * second


def advance(
    block: Block, traces: BlockTraces, before: BlockState, x: Float[Array, " inputs"]
) -> BlockTraces:
    """p' = M p + what the parameter adds at this step; `before` is the state that x met."""

    def carried(pair: Pair, first: Array | float, second: Array | float) -> Pair:
        moved_first, moved_second = multiply(block, *pair)
        return moved_first + first, moved_second + second

    column = x[:, None]
    return BlockTraces(
        a=carried(traces.a, before.first, 0.0),
        b=carried(traces.b, before.second, 0.0),
        c=carried(traces.c, 0.0, before.first),
        d=carried(traces.d, 0.0, before.second),
        w1=carried(traces.w1, column, 0.0),
        w2=carried(traces.w2, 0.0, column),
    )


def contract(traces: BlockTraces, cotangent: BlockState) -> tuple[Float[Array, "..."], ...]:
    """The gradients of a, b, c, d, W1 and W2, from (∂L/∂h1, ∂L/∂h2) and the same step's traces."""
    return tuple(cotangent.first * first + cotangent.second * second for first, second in traces)


def advance_halved(
    block: Block, traces: HalvedTraces, before: BlockState, x: Float[Array, " inputs"]
) -> HalvedTraces:
    """α' = u - β det M and β' = α + β tr M, for u = h1, h2 of the state that x met, and x."""
    trace, determinant = block.a + block.d, block.a * block.d - block.b * block.c

    def carried(pair: Pair, new: Float[Array, "..."]) -> Pair:
        alpha, beta = pair
        return new - determinant * beta, alpha + trace * beta

    return HalvedTraces(
        first=carried(traces.first, before.first),
        second=carried(traces.second, before.second),
        x=carried(traces.x, x[:, None]),
    )


def contract_halved(
    block: Block, traces: HalvedTraces, cotangent: BlockState
) -> tuple[Float[Array, "..."], ...]:
    """As `contract`: with the row vector δ of the cotangent, δ (α I + β M) for each u."""
    through_first = cotangent.first * block.a + cotangent.second * block.c
    through_second = cotangent.first * block.b + cotangent.second * block.d
    to_first, to_second = (
        [slope * alpha + through * beta for alpha, beta in traces]
        for slope, through in zip(cotangent, (through_first, through_second), strict=True)
    )
    return (*to_first[:2], *to_second[:2], to_first[2], to_second[2])
