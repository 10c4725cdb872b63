"""Evaluates patterns with google-re2: one JSON object per line in, one per line out.

In:  {"pattern": base64, "caseSensitive": bool, "texts": [base64, ...]}
Out: {"accepted": bool, "spans": [[start, end, start, end, ...], ...]} with the byte offsets of all matches, per text.
"""
import base64
import json
import sys

import re2


def next_character(text, at):
    at += 1
    while at < len(text) and text[at] & 0xC0 == 0x80:
        at += 1
    return at


def walk(compiled, text):
    """All matches of a pattern with an empty match: finditer would return its position twice."""
    at = 0
    while at <= len(text):
        match = compiled.search(text, at)
        if match is None:
            return
        yield match.span()
        start, end = match.span()
        at = end if end > start else next_character(text, end)


def spans_of(compiled, text):
    spans = [match.span() for match in compiled.finditer(text)]
    if any(start == end for start, end in spans):
        spans = walk(compiled, text)
    return [offset for span in spans for offset in span]


def judge(row):
    options = re2.Options()
    options.case_sensitive = row["caseSensitive"]
    options.log_errors = False
    try:
        compiled = re2.compile(base64.b64decode(row["pattern"]), options)
    except re2.error:
        return {"accepted": False, "spans": []}
    return {"accepted": True, "spans": [spans_of(compiled, base64.b64decode(text)) for text in row["texts"]]}


for line in sys.stdin:
    print(json.dumps(judge(json.loads(line)), separators=(",", ":")))
    sys.stdout.flush()
