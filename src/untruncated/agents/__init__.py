"""Learners that combine cells, estimators and environments."""
