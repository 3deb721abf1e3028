"""Which backends ask web services, by name, so that nothing of the web is loaded to find out."""

ASKING = ("RestClient", "PublicServices")
