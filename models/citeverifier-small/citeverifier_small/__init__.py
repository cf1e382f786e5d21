"""The weights of citeverifier-small, in `model/`: `CiteVerifier.from_pretrained("citeverifier-small")` finds them."""
