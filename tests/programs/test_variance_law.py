"""The Monte Carlo side of Table 2 against its formulas."""

import jax
import numpy as np
import pytest

from untruncated.catalogue.variance_laws import relative_pes_variance
from untruncated.experiments.spec import resolve_run
from untruncated.programs import variance_law


@pytest.mark.parametrize("structure", ["diagonal", "upper_triangular"])
@pytest.mark.parametrize("entries", ["identical", "independent"])
def test_the_measured_variance_is_that_of_the_formula(structure, entries):
    problem = {"name": "linear_losses", "horizon": 4, "structure": structure, "entries": entries}
    spec = resolve_run(
        {
            "program": "variance_law",
            "problem": problem,
            "steps": 4000,
            "seeds": [0, 1, 2, 3],
            "precision": "float64",
        }
    )
    with jax.enable_x64(True):
        program = variance_law.build(spec.fields, [], {})
        carry = program.init()
        for _ in range(program.total_steps // program.chunk_steps):
            carry = program.advance(carry)
        metrics = program.metrics(carry)
    predicted = metrics["predicted_variance"].values
    assert predicted == relative_pes_variance(structure, entries, 4, 3)
    np.testing.assert_allclose(metrics["relative_variance"].values.mean(), predicted, rtol=0.05)
