"""`python -m benchmarks`, with `NPROC=1`: one core, so that CPU time is what a run costs."""

import os
import platform
from pathlib import Path

from untruncated.suite.jax_settings import compile_loops_whole

if __name__ == "__main__":
    if os.environ.get("NPROC") != "1":
        raise SystemExit("error: set NPROC=1, as `make bench` does: runs take one core each")
    compile_loops_whole()  # as runs do, before jax is imported
    import jax

    from benchmarks import brax, gradient_estimation, online_prediction, popgym

    print(f"{platform.processor() or platform.machine()}, {jax.devices()[0].device_kind}, one core")
    online_prediction.report(Path(__file__).resolve().parents[1])
    gradient_estimation.report()
    popgym.report()
    brax.report()
