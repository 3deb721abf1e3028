"""Customer-service worlds of tau2-bench, and judging of its simulations."""
