"""What people read: the report of a run, and the law of a word as a table with bars."""
