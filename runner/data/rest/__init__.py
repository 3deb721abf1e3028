"""What the REST client of an episode asks: web services on this machine, and others if allowed."""
