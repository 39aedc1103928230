"""θ that holds whole numbers is refused by every estimator, in the same words."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from untruncated.estimators.unrolled.backpropagation import UnrolledBPTT, UnrolledTruncatedBPTT
from untruncated.estimators.unrolled.cell_traces import CellTraces
from untruncated.estimators.unrolled.es_single import ESSingle
from untruncated.estimators.unrolled.evolution_strategies import FullES, TruncatedES
from untruncated.estimators.unrolled.pes import PES
from untruncated.estimators.unrolled.pes_analytic import PESAnalytic
from untruncated.estimators.unrolled.rtrl import UnrolledRTRL
from untruncated.estimators.unrolled.staggered import Staggered
from untruncated.estimators.unrolled.uoro import UORO

KEY = jax.random.key(0)
ESTIMATORS = [
    FullES(4, 0.1),
    TruncatedES(4, 0.1, 2),
    PES(4, 0.1, 2),
    PESAnalytic(4, 0.1, 2),
    ESSingle(4, 0.1, 2),
    UnrolledBPTT(),
    UnrolledTruncatedBPTT(2),
    UnrolledRTRL(),
    UORO(),
]


@pytest.mark.parametrize(
    "estimator", [*ESTIMATORS, CellTraces(), Staggered(PES(4, 0.1, 2), 2)], ids=str
)
@pytest.mark.parametrize(
    ("leaf", "held"),
    [
        (jnp.array([1, 2]), "int32"),
        (np.array([1, 2], np.int8), "int8"),
        (3, "int32"),
        (jnp.array(True), "bool"),
        (jnp.array(1j), "complex64"),
    ],
)
def test_parameters_that_are_no_floats_are_refused(noisy_system, estimator, leaf, held):
    name = type(getattr(estimator, "estimator", estimator)).__name__
    message = rf"^{name} estimates a gradient .* must be floats, but θ holds {held}: make them"
    with pytest.raises(ValueError, match=message):
        estimator.init(noisy_system(), {"a": jnp.ones(1), "b": leaf}, KEY)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("leaf", [0.5, np.float64(0.5), jnp.bfloat16(0.5), jnp.ones(2)])
def test_floats_of_any_kind_are_taken(noisy_system, estimator, leaf):
    estimator.init(noisy_system(), {"a": jnp.ones(1), "b": leaf}, KEY)
