"""New environments: scaffolds, and drafts from OpenAPI files and MCP servers."""
