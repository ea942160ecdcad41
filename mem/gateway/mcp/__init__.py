"""The MCP door: tools, a prompt and a resource over the client of the worker; routes only."""
