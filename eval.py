"""Score a verifier: `python eval.py scheme=separate lang=pl`. Help: `python eval.py --help`."""

from citeverifier.commands.eval import main

if __name__ == "__main__":
    main()
