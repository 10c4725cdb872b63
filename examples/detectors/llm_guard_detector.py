"""Denies texts that a scanner of LLM Guard refuses: python3 llm_guard_detector.py [PORT]"""

import sys

from detector import serve
from llm_guard import scan_output, scan_prompt
from llm_guard.input_scanners import PromptInjection, Toxicity
from llm_guard.output_scanners import Toxicity as AnswerToxicity

prompt_scanners = [PromptInjection(), Toxicity()]
answer_scanners = [AnswerToxicity()]


def decide(stage: str, texts: list[str]) -> bool:
    for text in texts:
        if stage == "request":
            _, valid, _ = scan_prompt(prompt_scanners, text)
        else:
            _, valid, _ = scan_output(answer_scanners, "", text)
        # A missing scanner result does not count as a pass.
        if not valid:
            raise RuntimeError("no scanner answered")
        if not all(valid.values()):
            return True
    return False


serve(decide, int(sys.argv[1]) if len(sys.argv) > 1 else 28082)
