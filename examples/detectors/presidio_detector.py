"""Denies texts in which Presidio finds personal data: python3 presidio_detector.py [PORT]"""

import os
import sys

from detector import serve
from presidio_analyzer import AnalyzerEngine

entities = os.environ.get("PRESIDIO_ENTITIES", "PERSON,LOCATION").split(",")
languages = os.environ.get("PRESIDIO_LANGUAGES", "en").split(",")
threshold = float(os.environ.get("PRESIDIO_THRESHOLD", "0.6"))
analyzer = AnalyzerEngine(supported_languages=languages)


def decide(_stage: str, texts: list[str]) -> bool:
    return any(
        analyzer.analyze(text=text, language=language, entities=entities, score_threshold=threshold)
        for text in texts
        for language in languages
    )


serve(decide, int(sys.argv[1]) if len(sys.argv) > 1 else 28081)
