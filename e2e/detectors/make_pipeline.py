"""Writes a spaCy pipeline that finds listed names, without a trained model: python3 make_pipeline.py FOLDER"""

import sys

import spacy

pipeline = spacy.blank("en")
pipeline.add_pipe("entity_ruler").add_patterns(
    [
        {"label": "PERSON", "pattern": "Ann Lee"},
        {"label": "GPE", "pattern": [{"LOWER": "oslo"}]},
    ]
)
pipeline.to_disk(sys.argv[1])
