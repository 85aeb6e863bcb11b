"""The command line: thin, it calls what a user of the library calls."""
