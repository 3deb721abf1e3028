"""Judge models: votes on episodes, beside the verdicts."""
