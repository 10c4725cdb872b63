"""Denies texts in which Presidio finds personal data: python3 presidio_detector.py [PORT]"""

import os
import sys

from detector import serve
from presidio_analyzer import AnalyzerEngine

entities = os.environ.get("PRESIDIO_ENTITIES", "PERSON,LOCATION").split(",")
languages = os.environ.get("PRESIDIO_LANGUAGES", "en").split(",")
threshold = float(os.environ.get("PRESIDIO_THRESHOLD", "0.6"))
model = os.environ.get("PRESIDIO_MODEL")


def engine() -> dict:
    """The spaCy model for all languages, by name or path; without it Presidio loads its default model."""
    if model is None:
        return {}
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    models = [{"lang_code": language, "model_name": model} for language in languages]
    configuration = {"nlp_engine_name": "spacy", "models": models}
    return {"nlp_engine": NlpEngineProvider(nlp_configuration=configuration).create_engine()}


analyzer = AnalyzerEngine(supported_languages=languages, **engine())


def decide(_stage: str, texts: list[str]) -> bool:
    return any(
        analyzer.analyze(text=text, language=language, entities=entities, score_threshold=threshold)
        for text in texts
        for language in languages
    )


serve(decide, int(sys.argv[1]) if len(sys.argv) > 1 else 28081)
