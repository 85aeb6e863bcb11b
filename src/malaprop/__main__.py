"""Run the command line as `python -m malaprop`."""

from malaprop.cli.main import main

if __name__ == "__main__":
    main()
