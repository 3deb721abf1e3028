"""Customer-service worlds of tau2-bench, judging of its simulations, and simulated users."""
