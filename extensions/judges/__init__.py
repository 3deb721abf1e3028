"""Judge models, which vote on episodes in addition to the verdicts."""
