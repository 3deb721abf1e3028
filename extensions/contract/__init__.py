"""The contract of environments: what every backend promises, as checks."""
