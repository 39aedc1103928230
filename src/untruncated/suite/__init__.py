"""Specs, results, the runner and claims: everything around a run but its science."""
