"""Estimators of a recurrent cell's gradient, one step of a stream at a time."""
