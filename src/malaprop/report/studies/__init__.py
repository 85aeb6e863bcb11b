"""Pages about studies, rendered from their lines alone."""
