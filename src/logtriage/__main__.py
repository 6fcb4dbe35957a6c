"""``python -m logtriage``: the command line without its script."""

from logtriage.cli import main

if __name__ == "__main__":
    main()
