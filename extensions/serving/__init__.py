"""MCP server for sessions, used by models in other programs."""
