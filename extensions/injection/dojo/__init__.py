"""AgentDojo: its suites as environments, its recorded runs, its attacks."""
