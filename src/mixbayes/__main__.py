"""`python -m mixbayes`: the command, for an environment that is not on the path."""

from mixbayes.cli import main

if __name__ == "__main__":
    main()
