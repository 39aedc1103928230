"""Options for the compiler."""

# For what runs once: half the time to compile, the same numbers.
QUICK_COMPILE = {"xla_backend_optimization_level": 1}
