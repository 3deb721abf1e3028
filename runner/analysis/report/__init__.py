"""HTML pages: report, comparison, scores and alignment."""
