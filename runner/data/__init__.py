"""From what the user typed to data: choosing, fetching, caching, REST services."""
