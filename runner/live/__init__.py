"""Live runs: settings, episodes, rate limits, retries and budgets."""
