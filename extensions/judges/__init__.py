"""A judge model votes on episodes, in addition to the verdicts."""
