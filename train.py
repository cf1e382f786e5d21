"""Train a verifier: `python train.py`, `python train.py +experiment=herbert`. Help: `python train.py --help`."""

from citeverifier.commands.train import main

if __name__ == "__main__":
    main()
