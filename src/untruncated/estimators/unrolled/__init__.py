"""Estimators of the gradient of unrolled systems, one unroll at a time."""
