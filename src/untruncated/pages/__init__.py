"""Pages of docs/ made from templates, so that each number and comparison comes from the tables."""
