"""Costs of gradients: XLA's memory grows as Table 1 says, and every case is timed."""

import numpy as np
import pytest

from untruncated.catalogue import CatalogueError
from untruncated.experiments.spec import resolve_run
from untruncated.programs import estimator_costs

ES = {"particles": 16, "sigma": 0.1}
SPEC = {"program": "estimator_costs", "steps": 1, "repeats": 2, "seeds": [0]}


def _measure(cases):
    spec = resolve_run({**SPEC, "cases": cases})
    program = estimator_costs.build(spec.fields, [], {})
    carry = program.init()
    for _ in range(program.total_steps):
        carry = program.advance(carry)
    assert program.diverged(carry) == []
    return {name: metric.values for name, metric in program.metrics(carry).items()}


def _ring(**fields):
    return {"name": "coupled_ring", "units": 2048, "parameters": 512, "horizon": 64, **fields}


SWEEPS = {
    "BPTT, T": [{"problem": _ring(horizon=t), "estimator": "bptt"} for t in (64, 256)],
    "TBPTT, K": [
        {"problem": _ring(), "estimator": {"name": "truncated_bptt", "truncation": k}}
        for k in (16, 64)
    ],
    "RTRL, S": [
        {"problem": _ring(units=s, parameters=16), "estimator": "rtrl"} for s in (256, 512)
    ],
    "PES, T": [
        {"problem": _ring(horizon=t), "estimator": {"name": "pes", "truncation": 4, **ES}}
        for t in (64, 256)
    ],
    "PES, N": [
        {
            "problem": _ring(),
            "estimator": {"name": "pes", "truncation": 4, **ES, "particles": n},
        }
        for n in (32, 128)
    ],
    "UORO, P": [
        {"problem": _ring(units=64, parameters=p), "estimator": "uoro"} for p in (4096, 16384)
    ],
}


@pytest.mark.parametrize("name", SWEEPS)
def test_memory_grows_by_the_predicted_exponent(name):
    measured = _measure(SWEEPS[name])
    assert measured["seconds"].shape == (2, 2) and (measured["seconds"] > 0).all()
    low, high = measured["bytes"]
    expected = measured["predicted_numbers"]
    # the ratio of two sizes, as an exponent of 4 or 2
    base = 2.0 if name == "RTRL, S" else 4.0
    exponent = np.log(high / low) / np.log(base)
    predicted = np.log(expected[1] / expected[0]) / np.log(base)
    np.testing.assert_allclose(exponent, predicted, atol=0.15)


def test_an_estimator_that_does_not_fit_its_problem_is_named():
    case = {"problem": {**_ring(), "horizon": None}, "estimator": "bptt"}
    with pytest.raises(CatalogueError, match=r"cases\[0\]\.estimator\.name.*problems that end"):
        resolve_run({**SPEC, "cases": [case]})
