"""What must hold before any test imports jax."""

import os

# Importing jax sets 1, which programs that tests start would inherit: with it the compiler warns
# on stderr each time that it reads a kept program.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
