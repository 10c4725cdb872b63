"""Denies texts that a scanner of LLM Guard refuses: python3 llm_guard_detector.py [PORT]"""

import json
import os
import sys

from detector import serve
from llm_guard import input_scanners, output_scanners, scan_output, scan_prompt
from llm_guard.util import configure_logger

# The library logs the findings of a scanner, which are text of a user.
configure_logger(log_level="CRITICAL")

# Scanners by name, each with its arguments. The default ones load models.
chosen = json.loads(os.environ.get("LLM_GUARD_SCANNERS", '{"PromptInjection": {}, "Toxicity": {}}'))
for name in chosen:
    if name not in input_scanners.__all__ and name not in output_scanners.__all__:
        sys.exit(f"LLM_GUARD_SCANNERS: llm-guard has no scanner {name}")


def scanners_of(module) -> list:
    return [getattr(module, name)(**arguments) for name, arguments in chosen.items() if name in module.__all__]


prompt_scanners = scanners_of(input_scanners)
answer_scanners = scanners_of(output_scanners)


def decide(stage: str, texts: list[str]) -> bool:
    for text in texts:
        # The library scans no text without a character that is visible to str.strip.
        if text.strip() == "":
            continue
        if stage == "request":
            _, valid, _ = scan_prompt(prompt_scanners, text)
        else:
            _, valid, _ = scan_output(answer_scanners, "", text)
        # A stage for which no scanner was chosen is not judged, which is no pass.
        if not valid:
            raise RuntimeError("no scanner answered")
        if not all(valid.values()):
            return True
    return False


serve(decide, int(sys.argv[1]) if len(sys.argv) > 1 else 28082)
