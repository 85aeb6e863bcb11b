"""Files in, private files out: planning, the run, its report; on this machine or on Spark."""
