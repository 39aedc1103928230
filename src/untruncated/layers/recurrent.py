"""A recurrent cell with online credit assignment, as a Flax module for any training loop.

The carry holds what the gradient needs of the past, so nothing is differentiated through time:
`jax.grad` of a loss of this step's output already is the gradient through the past.
"""

from collections.abc import Callable, Mapping

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

from untruncated.cells.protocol import Cell, Parameters
from untruncated.estimators.online.traces import RTRL
from untruncated.estimators.online.truncated_bptt import TruncatedBPTT

Carry = PyTree[Array]
LayerParameters = Mapping[str, Float[Array, "..."]]


class Recurrent(nn.RNNCellBase):
    """The base of this package's layers: `width` units, learning through the past at every step.

    Usable wherever Flax takes an `RNNCellBase`. Derivatives of the output with respect to

    * the parameters reach through the whole past (real-time recurrent learning, exact while the
      parameters do not change; RTU paper, Section 3.3 and Appendix E.6) or, if `truncation` is
      given, through the last `truncation` inputs, unrolled at every step;
    * the input are those of this step alone. Layers below this one therefore get one-step
      gradients, a known approximation for stacks of layers (RTU paper, Appendix E.5);
    * the carry are zero: the parameters' derivatives already hold what it would add.

    Eigenvalues, state, traces and output have the floating-point type of the carry that is passed
    in: JAX's default one, as `initialize_carry` makes it, whatever the types of parameters and
    input. In bfloat16 nothing would last: it has no |λ| between 0.9961 and 1. Gradients have the
    type of what they belong to.

    A layer of your own overrides `make_cell` with a cell whose parameters are a NamedTuple; its
    fields become the layer's parameters, in the collection 'params'.
    """

    width: int
    truncation: int | None = None

    @nn.nowrap
    def make_cell(self, inputs: int) -> Cell:
        """The cell for so many inputs; called by every other method."""
        raise NotImplementedError

    @nn.nowrap
    def estimator(self, inputs: int) -> RTRL | TruncatedBPTT:
        """How the gradient crosses time.

        Raises:
            ValueError: `truncation` is below 1, or missing where the cell has no exact traces.
        """
        cell = self.make_cell(inputs)
        if self.truncation is not None:
            if self.truncation < 1:
                raise ValueError(f"truncation must be at least 1, not {self.truncation}")
            return TruncatedBPTT(cell, self.truncation)
        if not hasattr(cell, "initial_traces"):
            raise ValueError(
                f"{type(self).__name__} needs truncation, the number of past steps to learn from: "
                "its units mix, so exact traces are not carried"
            )
        return RTRL(cell)

    @property
    def num_feature_axes(self) -> int:
        return 1

    @nn.nowrap
    def initialize_carry(self, rng: PRNGKeyArray | None, input_shape: tuple[int, ...]) -> Carry:
        """The carry before the first input of shape `input_shape`, (*batch, inputs): all zeros.

        Every array of the carry begins with the axes of the batch. `rng` is not used.
        """
        *batch, inputs = input_shape
        fresh = self.estimator(inputs).init()
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (*batch, *leaf.shape)), fresh)

    @nn.compact
    def __call__(
        self, carry: Carry, x: Float[Array, "*batch inputs"]
    ) -> tuple[Carry, Float[Array, "*batch outputs"]]:
        """One step: the new carry and the output, the cell's features side by side.

        Raises:
            ValueError: See `estimator`; or a name (of an activation, say) is unknown.
        """
        dtype = _float_type(carry)
        x = jnp.asarray(x, dtype)
        estimator = self.estimator(x.shape[-1])
        cell = estimator.cell
        key = self.make_rng("params") if self.has_rng("params") else jax.random.key(0)
        # One draw serves all parameters: their initial values may depend on each other.
        params = _parameters(
            cell,
            lambda name: self.param(
                name, lambda _: getattr(cell.init(jax.random.clone(key)), name)
            ),
        )
        # Differentiating the conversion gives the gradient the parameters' own type.
        params = jax.tree.map(lambda leaf: leaf.astype(dtype), params)
        derived = cell.derive(params)

        def step(
            carry: Carry, x: Float[Array, " inputs"]
        ) -> tuple[Carry, Float[Array, " outputs"]]:
            after = estimator.step(params, derived, jax.lax.stop_gradient(carry), x)
            return after.carry, jnp.concatenate(after.features)

        for _ in x.shape[:-1]:
            step = jax.vmap(step)
        return step(carry, x)

    @nn.nowrap
    def constrain(self, params: LayerParameters) -> dict[str, Float[Array, "..."]]:
        """The nearest allowed values of this layer's own entry in 'params'; call after an update.

        Changes something only under the parameterisations "exp" and "direct", whose |λ| could
        leave (0, 1]. RTU paper, Appendix E.1.
        """
        cell = self.make_cell(inputs=1)  # The constraint is the same for any number of inputs.
        constrained = cell.constrain(_parameters(cell, params.__getitem__))._asdict()
        return {name: leaf for name, leaf in constrained.items() if leaf is not None}


def reset_carry(carry: Carry, done: Bool[Array, "*batch"]) -> Carry:
    """The carry with state and traces (or window) zeroed where `done`: call between two episodes.

    `done` has the shape of the batch; a scalar resets the whole batch.

    Raises:
        ValueError: The carry's arrays do not begin with the axes of `done`.
    """
    done = jnp.asarray(done, bool)

    def reset(leaf: Array) -> Array:
        if leaf.shape[: done.ndim] != done.shape:
            raise ValueError(f"done has shape {done.shape}, the carry an array of {leaf.shape}")
        return jnp.where(jnp.expand_dims(done, range(done.ndim, leaf.ndim)), 0, leaf)

    return jax.tree.map(reset, carry)


def _float_type(carry: Carry) -> jnp.dtype:
    """The type of the carry's real numbers; beside them it may have counters."""
    types = [leaf.dtype for leaf in jax.tree.leaves(carry)]
    return jnp.result_type(float, *(t for t in types if jnp.issubdtype(t, jnp.floating)))


def _parameters(cell: Cell, leaf: Callable[[str], Array]) -> Parameters:
    """The cell's parameters with the fields `leaf(name)`; those that the cell lacks stay None."""
    fields = jax.eval_shape(cell.init, jax.random.key(0))
    names = [name for name, shape in fields._asdict().items() if shape is not None]
    return fields._replace(**{name: leaf(name) for name in names})
