"""CalendarAPI, an environment for Turnwise."""
