from .input_scanners import BanSubstrings, Toxicity

__all__ = ["BanSubstrings", "Toxicity"]
