"""Judge models: they vote on episodes, in addition to the verdicts."""
