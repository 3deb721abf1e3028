"""The reader of answers: whether the words that end a turn tell the user a fact. English only."""
