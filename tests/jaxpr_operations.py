"""Floating-point operations of a function, counted in its jaxpr: what docs/costs.md says counts.

A product of matrices is 2 m n k, or m n where k is 1 and nothing is added; an elementwise sum,
product or maximum is one per number of its output, a transcendental function one, a sum over n
numbers n. What moves, converts, rounds or chooses numbers is free; so is a sum with a literal 0.
"""

from collections.abc import Callable
from math import prod

import jax
import jax.numpy as jnp
from jax.extend.core import Jaxpr, JaxprEqn, Literal
from jax.interpreters.partial_eval import dce_jaxpr

FREE = {
    "broadcast_in_dim",
    "reshape",
    "squeeze",
    "expand_dims",
    "transpose",
    "concatenate",
    "slice",
    "dynamic_slice",
    "split",
    "pad",
    "gather",
    "rev",
    "iota",
    "convert_element_type",
    "copy",
    "copy_p",
    "stop_gradient",
    "zeros_like",
}
REDUCTIONS = {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "cumsum"}
ELEMENTWISE = {
    *("add", "add_any", "sub", "mul", "div", "neg", "max", "min", "sign", "abs", "square"),
    *("exp", "log", "expm1", "log1p", "sin", "cos", "tanh", "logistic", "sqrt", "rsqrt"),
    *("integer_pow", "pow"),
}
CHOICES = {"select_n", "clamp", "round", "floor"}
BOOLEAN = {"gt", "ge", "lt", "le", "eq", "ne", "and", "or", "not", "is_finite", "sign"}


def operations(function: Callable, *arguments: object) -> int:
    """Operations of one call. Every name that is not known is an error: nothing is left out."""
    jaxpr = jax.make_jaxpr(function)(*arguments).jaxpr
    return _count(dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars))[0])


def _count(jaxpr: Jaxpr) -> int:
    return sum(_of(equation) for equation in jaxpr.eqns)


def _of(equation: JaxprEqn) -> int:
    name, out = equation.primitive.name, equation.outvars[0].aval
    if inner := [p for p in equation.params.values() if hasattr(p, "jaxpr") or hasattr(p, "eqns")]:
        if name == "scan":
            return equation.params["length"] * _count(equation.params["jaxpr"].jaxpr)
        (body,) = (p for p in inner[:1])
        return _count(getattr(body, "jaxpr", body))
    if name in FREE | CHOICES | BOOLEAN or not jnp.issubdtype(out.dtype, jnp.floating):
        return 0
    if name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        shape = equation.invars[0].aval.shape
        terms = prod(shape[axis] for axis in contracted)
        return prod(out.shape) * (2 * terms if terms > 1 else 1)
    if name in REDUCTIONS:
        return equation.invars[0].aval.size
    if name == "add" and any(isinstance(v, Literal) and v.val == 0 for v in equation.invars):
        return 0
    if name in ELEMENTWISE:
        return out.size
    raise NotImplementedError(name)
