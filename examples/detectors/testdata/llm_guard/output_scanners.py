class Toxicity:
    word = "awful"
