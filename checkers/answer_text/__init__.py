"""Reader of final answers in English; it tests whether answers report required information."""
