"""The weights of citeverifier-base, in `model/`: `CiteVerifier.from_pretrained("citeverifier-base")` finds them."""
