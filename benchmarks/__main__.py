"""`python -m benchmarks`, with `NPROC=1`: one core, so that CPU time is what a run costs."""

import os
import platform
from pathlib import Path

from untruncated.basics.errors import SuiteError
from untruncated.running.jax_settings import start_jax

if __name__ == "__main__":
    if os.environ.get("NPROC") != "1":
        raise SystemExit("error: set NPROC=1, as `make bench` does: runs take one core each")
    try:
        start_jax(keep_programs=False)  # as runs do, but they compile anew what is measured
    except SuiteError as error:
        raise SystemExit(f"error: {error}") from error
    import jax

    from benchmarks import brax, control, gradient_estimation, online_prediction, popgym

    print(f"{platform.processor() or platform.machine()}, {jax.devices()[0].device_kind}, one core")
    online_prediction.report(Path(__file__).resolve().parents[1])
    gradient_estimation.report()
    popgym.report()
    brax.report()
    control.report()
