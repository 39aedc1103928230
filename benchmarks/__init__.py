"""Measurements of speed, run by `make bench`. Nothing here is asserted in a test."""
