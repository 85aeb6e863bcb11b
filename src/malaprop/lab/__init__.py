"""Research: the experiments of five papers, tasks, data sets. Only the command line imports it."""
