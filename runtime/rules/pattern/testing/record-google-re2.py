"""Records what google-re2 says about generated patterns, as one JSON object per line.

    python3 -m venv google-re2 && google-re2/bin/pip install google-re2==1.1.20251105
    sh hack/run runtime/rules/pattern/testing/sample-patterns.ts | \\
      google-re2/bin/python runtime/rules/pattern/testing/record-google-re2.py \\
      > runtime/rules/pattern/testdata/google-re2.jsonl

To {pattern, caseSensitive, texts} it adds whether the pattern compiles with default options and, for each text, the
byte offsets of the first match.
"""
import json
import sys

import re2


def record(row):
    options = re2.Options()
    options.case_sensitive = row["caseSensitive"]
    options.log_errors = False
    try:
        compiled = re2.compile(row["pattern"].encode(), options)
    except re2.error:
        return {**row, "accepted": False, "first": []}
    found = (compiled.search(text.encode()) for text in row["texts"])
    return {**row, "accepted": True, "first": [list(match.span()) if match else None for match in found]}


for line in sys.stdin:
    print(json.dumps(record(json.loads(line)), ensure_ascii=True))
