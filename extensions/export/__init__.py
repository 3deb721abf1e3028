"""Export of runs to the formats of other tools."""
