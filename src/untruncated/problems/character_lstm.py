"""A tiny LSTM that predicts the next character of a fixed text; PES paper, Appendix on variance.

θ are the weights of the LSTM, and an inner problem is one pass over the text. It is meant for
measuring estimators, not for learning a language: 790 parameters with the default sizes.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from untruncated.catalogue.problems import CharacterLSTMFields
from untruncated.datasets import english_text, penn_treebank
from untruncated.datasets.characters import encode


class Weights(NamedTuple):
    """θ. Rows of gates: forget, input and output gates, then what is written to the cell.

    Both biases of the gates are there, as in the original, though only their sum matters.
    """

    embedding: Float[Array, "vocabulary embedding"]
    input_to_gates: Float[Array, "gates embedding"]
    input_bias: Float[Array, " gates"]
    hidden_to_gates: Float[Array, "gates units"]
    hidden_bias: Float[Array, " gates"]
    read_out: Float[Array, "vocabulary units"]
    read_out_bias: Float[Array, " vocabulary"]


class Memory(NamedTuple):
    """The state: the cell's content c and what it shows, h."""

    cell: Float[Array, " units"]
    hidden: Float[Array, " units"]


@dataclass(frozen=True)
class CharacterLSTM(CharacterLSTMFields):
    """Loss of step t: the cross-entropy, in nats, of character t + 1 given those up to t.

    The text's first `horizon` + 1 characters are used: `text` is "english", a story that comes
    with the suite; "penn_treebank"; "random", drawn uniformly from the vocabulary; or "repeated",
    one character again and again. All sizes are numbers of units.
    """

    differentiable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.characters  # a missing text is told at once, not from inside a compiled function

    @cached_property
    def characters(self) -> Int[np.ndarray, " characters"]:
        """The numbers of the horizon + 1 characters.

        Raises:
            ValueError: The text is too short, has too many symbols, or cannot be found.
        """
        length = self.horizon + 1
        if self.text == "repeated":
            return np.zeros(length, np.int32)
        if self.text == "random":
            return np.random.default_rng(0).integers(self.vocabulary, size=length, dtype=np.int32)
        source = {"english": english_text, "penn_treebank": penn_treebank}[self.text]
        numbers, symbols = encode(source.load())
        if len(numbers) < length:
            raise ValueError(
                f"text {self.text!r} has {len(numbers)} characters, and a horizon of "
                f"{self.horizon} needs {length}"
            )
        if len(symbols) > self.vocabulary:
            raise ValueError(
                f"text {self.text!r} has {len(symbols)} symbols, which is more than a vocabulary "
                f"of {self.vocabulary}"
            )
        return numbers[:length]

    def initial_theta(self, key: PRNGKeyArray) -> Weights:
        """Embedding uniform on ±0.1, weights normal, cut at two standard deviations, zero biases.

        Standard deviations are 1/√inputs before the cut.
        """
        keys = jax.random.split(key, 4)
        gates = 4 * self.units

        def linear(key: PRNGKeyArray, outputs: int, inputs: int) -> Array:
            return jax.random.truncated_normal(key, -2.0, 2.0, (outputs, inputs)) / inputs**0.5

        return Weights(
            jax.random.uniform(keys[0], (self.vocabulary, self.embedding), float, -0.1, 0.1),
            linear(keys[1], gates, self.embedding),
            jnp.zeros(gates),
            linear(keys[2], gates, self.units),
            jnp.zeros(gates),
            linear(keys[3], self.vocabulary, self.units),
            jnp.zeros(self.vocabulary),
        )

    def initial_state(self, key: PRNGKeyArray) -> Memory:
        del key  # always empty
        return Memory(jnp.zeros(self.units), jnp.zeros(self.units))

    def unroll_step(
        self, theta: Weights, state: Memory, t: Int[Array, ""], key: PRNGKeyArray
    ) -> tuple[Memory, Float[Array, ""]]:
        del key  # a fixed text
        characters = jnp.asarray(self.characters)
        gates = (
            _product(theta.input_to_gates, theta.embedding[characters[t]])
            + theta.input_bias
            + _product(theta.hidden_to_gates, state.hidden)
            + theta.hidden_bias
        )
        forget, write, show = jnp.split(jax.nn.sigmoid(gates[: 3 * self.units]), 3)
        cell = forget * state.cell + write * jnp.tanh(gates[3 * self.units :])
        hidden = show * jnp.tanh(cell)
        logits = _product(theta.read_out, hidden) + theta.read_out_bias
        loss = jax.nn.logsumexp(logits) - logits[characters[t + 1]]
        return Memory(cell, hidden), loss


def _product(
    matrix: Float[Array, "rows columns"], vector: Float[Array, " columns"]
) -> Float[Array, " rows"]:
    """The matrix product, written so that a batch of tiny ones is quicker."""
    return (matrix * vector).sum(axis=-1)
