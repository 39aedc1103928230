"""What came out: metrics, identity of a run, result files."""
