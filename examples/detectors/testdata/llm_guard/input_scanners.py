__all__ = ["BanSubstrings", "PromptInjection", "Secrets", "Toxicity"]


class PromptInjection:
    word = "ignore"


class Toxicity:
    word = "awful"


class Secrets:
    word = "AKIA"


class BanSubstrings:
    def __init__(self, *, substrings: list[str]) -> None:
        self.word = substrings[0]
