"""Text: cut into tokens, parsed into templates and secrets, and filled with other words."""
