"""Options for the compiler. None of them changes what is computed, but for rounding."""

# For what runs once: half the time to compile.
QUICK_COMPILE = {"xla_backend_optimization_level": 1}

# XLA copies an array in every step of a loop where it doesn't see that it may be overwritten; this
# analysis sees it more often.
IN_PLACE = {"xla_cpu_copy_insertion_use_region_analysis": True}

# For learning at every step, where the time goes into short loops over a cell's units. At level 3
# the shortest are written out number by number before they can be turned into vectors.
ONLINE_LEARNING = {**IN_PLACE, "xla_backend_optimization_level": 2}
