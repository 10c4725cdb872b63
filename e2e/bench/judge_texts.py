"""Judges texts with guard frameworks in this process: one JSON object per line in, one per line out.

In:  {"prepare": name, "patterns": [{"pattern": str, "caseSensitive": bool}, ...], "terms": [str, ...]}
Out: {"version": str}
In:  {"framework": name, "content": str, "count": int}
Out: {"matched": bool, "microseconds": float}: whether a rule matched, and the time of one judgement
"""

import asyncio
import json
import logging
import sys
import time
from importlib.metadata import version


def presidio(patterns, terms):
    """One recognizer for each pattern and a deny list; spaCy splits words without a model."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, Pattern, PatternRecognizer, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class BlankNlpEngine(SpacyNlpEngine):
        def __init__(self):
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

    import re

    recognizers = [
        PatternRecognizer(
            supported_entity=f"RULE_{at}",
            patterns=[Pattern(f"rule {at}", rule["pattern"], 1.0)],
            global_regex_flags=0 if rule["caseSensitive"] else re.IGNORECASE,
        )
        for at, rule in enumerate(patterns)
    ]
    recognizers.append(PatternRecognizer(supported_entity="TERM", deny_list=terms))
    registry = RecognizerRegistry(recognizers=recognizers, supported_languages=["en"])
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=BlankNlpEngine(), supported_languages=["en"])
    return lambda content: bool(analyzer.analyze(text=content, language="en"))


def llm_guard(patterns, terms):
    """The scanners of banned words and of regular expressions, which need no model."""
    from llm_guard import scan_prompt
    from llm_guard.input_scanners import BanSubstrings, Regex
    from llm_guard.util import configure_logger

    configure_logger(log_level="ERROR")
    scanners = [
        BanSubstrings(substrings=terms, match_type="word", case_sensitive=False),
        Regex(patterns=[flagged(rule) for rule in patterns], is_blocked=True, redact=True),
    ]
    return lambda content: not all(scan_prompt(scanners, content)[1].values())


def nemo(patterns, terms):
    """The input rail of regular expressions; the terms are one alternation, because there is no rail of terms."""
    from nemoguardrails import LLMRails, RailsConfig

    words = r"\b(?i:" + "|".join(terms) + r")\b"
    config = {
        "rails": {
            "config": {"regex_detection": {"input": {"patterns": [*map(flagged, patterns), words]}}},
            "input": {"flows": ["regex check input"]},
        }
    }
    rails = LLMRails(RailsConfig.from_content(config=config))
    loop = asyncio.new_event_loop()

    def judge(content):
        result = loop.run_until_complete(rails.check_async([{"role": "user", "content": content}]))
        return result.status.name == "BLOCKED"

    return judge


def flagged(rule):
    return rule["pattern"] if rule["caseSensitive"] else f"(?i:{rule['pattern']})"


frameworks = {
    "presidio": (presidio, "presidio-analyzer"),
    "llm-guard": (llm_guard, "llm-guard"),
    "nemo": (nemo, "nemoguardrails"),
}


def answer(judges, question):
    if "prepare" in question:
        name = question["prepare"]
        make, package = frameworks[name]
        judges[name] = make(question["patterns"], question["terms"])
        return {"version": version(package)}
    judge, content, count = judges[question["framework"]], question["content"], question["count"]
    start = time.perf_counter()
    for _ in range(count):
        matched = judge(content)
    return {"matched": matched, "microseconds": (time.perf_counter() - start) * 1e6 / count}


def main():
    # Frameworks write to stdout, and a log line of each judgement would be part of its time.
    out, sys.stdout = sys.stdout, sys.stderr
    logging.disable(logging.CRITICAL)
    judges = {}
    for line in sys.stdin:
        print(json.dumps(answer(judges, json.loads(line))), file=out, flush=True)


main()
