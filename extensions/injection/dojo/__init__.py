"""AgentDojo: suites as environments, recorded runs, and attacks."""
