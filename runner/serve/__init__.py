"""Sessions offered to models in other programs, by the Model Context Protocol (MCP)."""
