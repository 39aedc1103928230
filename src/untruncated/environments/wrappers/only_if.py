"""A choice at run time that costs nothing where nothing is to be done."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PyTree


def only_if(
    predicate: Bool[Array, ""], change: Callable[[PyTree], PyTree], value: PyTree
) -> PyTree:
    """`change(value)` if the predicate holds, else `value`; both have the same types.

    A loop of at most one round. XLA copies what goes through `jax.lax.cond`, but leaves what goes
    through a loop in its place. Under `jax.vmap` the change is made where any of the predicates
    holds, and taken where its own does; `jax.lax.cond` would make it in every case.
    """

    def changed(carry: tuple[Array, PyTree]) -> tuple[Array, PyTree]:
        return jnp.zeros((), bool), change(carry[1])

    return jax.lax.while_loop(lambda carry: carry[0], changed, (predicate, value))[1]
