"""Reader of final answers in English, which tests whether they report required information."""
