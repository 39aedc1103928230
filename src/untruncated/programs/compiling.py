"""Options for the compiler."""

# For what runs once: half the time to compile, the same numbers.
QUICK_COMPILE = {"xla_backend_optimization_level": 1}

# For a loop that learns at every step, where the time goes into short loops over a cell's units. At
# level 3 the shortest are written out number by number before they can be turned into vectors. The
# analysis finds that an array may be overwritten in place where XLA would copy it first at every
# step. Neither changes what is computed.
LEARNING_LOOP = {
    "xla_backend_optimization_level": 2,
    "xla_cpu_copy_insertion_use_region_analysis": True,
}
