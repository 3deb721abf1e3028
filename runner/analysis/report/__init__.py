"""HTML pages of reports, comparisons, scores and alignments."""
