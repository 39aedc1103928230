"""What must hold before any test imports jax: programs are compiled as runs compile them."""

import os

from untruncated.suite.jax_settings import compile_loops_whole

compile_loops_whole()
# Importing jax sets 1, which programs that tests start would inherit: with it the compiler warns
# on stderr each time that it reads a kept program.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
