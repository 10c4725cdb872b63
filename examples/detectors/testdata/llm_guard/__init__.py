"""Stub of llm-guard with the same functions; its scanners refuse one word."""


def scan_prompt(scanners: list, prompt: str) -> tuple[str, dict[str, bool], dict[str, float]]:
    if "broken" in prompt:
        raise RuntimeError(prompt)
    if len(scanners) == 0 or prompt.strip() == "":
        return prompt, {}, {}
    valid = {type(scanner).__name__: scanner.word not in prompt for scanner in scanners}
    return prompt, valid, {name: 0.0 for name in valid}


def scan_output(scanners: list, prompt: str, output: str) -> tuple[str, dict[str, bool], dict[str, float]]:
    return scan_prompt(scanners, output)
