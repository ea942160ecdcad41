"""From a failure, a task or a tool to what is known about it."""
