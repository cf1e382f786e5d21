"""CiteVerifier: does this document support that statement?

A small ordinal verifier for citations in English and Polish, its training data, and honest scores for it.
Importing this package loads no torch; modules that need it import it where it is used.
"""

__version__ = "0.1.0"
