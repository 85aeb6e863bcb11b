"""Values on a line: the balanced law of a path, in closed form, and its channel."""
