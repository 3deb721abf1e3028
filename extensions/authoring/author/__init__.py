"""Author page: people write and review ground truths in the browser."""
