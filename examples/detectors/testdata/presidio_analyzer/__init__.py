"""Stub of presidio-analyzer with the same method; it finds a PERSON at each "Ann Lee" in a text."""


class AnalyzerEngine:
    def __init__(self, *, supported_languages: list[str]) -> None:
        self.languages = supported_languages

    def analyze(self, *, text: str, language: str, entities: list[str], score_threshold: float) -> list[str]:
        if language not in self.languages:
            raise ValueError("language")
        if "broken" in text:
            raise RuntimeError(text)
        return ["PERSON"] if "Ann Lee" in text and "PERSON" in entities and score_threshold <= 0.85 else []
