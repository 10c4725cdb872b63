class PromptInjection:
    word = "ignore"


class Toxicity:
    word = "awful"
