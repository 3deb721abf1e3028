"""What entries ask of the web: services on this machine, and others if allowed."""
