"""The ground: errors, array types, log space and exact sums."""
