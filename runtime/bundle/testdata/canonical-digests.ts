/**
 * Bundle files with their digests, written by Python's `json` and `hashlib` and not by this repository: members sorted,
 * no white space, UTF-8, SHA-256. The first two are the same bundle.
 */
export const canonicalVectors: readonly (readonly [what: string, file: string, digest: string])[] = [
  [
    'the canonical form',
    '{"contentProfile":"gateway-1.5.0-chat-webhook-v2","limits":{"maxBodyBytes":32768,"maxConcurrency":32,"maxMatches":256,"maxMessages":32,"queueSize":0},"policies":[{"id":"p","request":{"additional":[],"baseline":[{"action":{"type":"deny"},"id":"words","kind":"stop_list","stopList":{"caseSensitive":false,"match":"token","terms":["forbidden","ü€😀"]},"timeoutMs":20}],"deadlineMs":250},"response":{"additional":[],"baseline":[{"action":{"type":"deny"},"id":"words","kind":"stop_list","stopList":{"caseSensitive":false,"match":"token","terms":["forbidden","ü€😀"]},"timeoutMs":20}],"deadlineMs":250},"revision":"3"}],"providers":[],"schema":"platform.guardrail-runtime.bundle/v1"}',
    '7bc7053691f837ecd0f781a650686aff4816385853510653b9f1d1fafad56519',
  ],
  [
    'another order, line breaks, escapes and exponents',
    String.raw`{
 "schema": "platform.guardrail-runtime.bundle/v1",
 "providers": [],
 "policies": [
  {
   "revision": "3",
   "response": {
    "deadlineMs": 250,
    "baseline": [
     {
      "timeoutMs": 20,
      "stopList": {
       "terms": [
        "forbidden",
        "\u00fc\u20ac\ud83d\ude00"
       ],
       "match": "token",
       "caseSensitive": false
      },
      "kind": "stop_list",
      "id": "words",
      "action": {
       "type": "deny"
      }
     }
    ],
    "additional": []
   },
   "request": {
    "deadlineMs": 250,
    "baseline": [
     {
      "timeoutMs": 20,
      "stopList": {
       "terms": [
        "forbidden",
        "\u00fc\u20ac\ud83d\ude00"
       ],
       "match": "token",
       "caseSensitive": false
      },
      "kind": "stop_list",
      "id": "words",
      "action": {
       "type": "deny"
      }
     }
    ],
    "additional": []
   },
   "id": "p"
  }
 ],
 "limits": {
  "queueSize": 0,
  "maxMessages": 32,
  "maxMatches": 256,
  "maxConcurrency": 32,
  "maxBodyBytes": 3.2768e4
 },
 "contentProfile": "gateway-1.5.0-chat-webhook-v2"
}`,
    '7bc7053691f837ecd0f781a650686aff4816385853510653b9f1d1fafad56519',
  ],
  [
    'terms in another order',
    '{"contentProfile":"gateway-1.5.0-chat-webhook-v2","limits":{"maxBodyBytes":32768,"maxConcurrency":32,"maxMatches":256,"maxMessages":32,"queueSize":0},"policies":[{"id":"p","request":{"additional":[],"baseline":[{"action":{"type":"deny"},"id":"words","kind":"stop_list","stopList":{"caseSensitive":false,"match":"token","terms":["ü€😀","forbidden"]},"timeoutMs":20}],"deadlineMs":250},"response":{"additional":[],"baseline":[{"action":{"type":"deny"},"id":"words","kind":"stop_list","stopList":{"caseSensitive":false,"match":"token","terms":["ü€😀","forbidden"]},"timeoutMs":20}],"deadlineMs":250},"revision":"3"}],"providers":[],"schema":"platform.guardrail-runtime.bundle/v1"}',
    '002b0d682dc387a6b6eeb3f119847d12dec4544364a5e73e5013d9d8c4d102d7',
  ],
  [
    'another form of one letter',
    '{"contentProfile":"gateway-1.5.0-chat-webhook-v2","limits":{"maxBodyBytes":32768,"maxConcurrency":32,"maxMatches":256,"maxMessages":32,"queueSize":0},"policies":[{"id":"p","request":{"additional":[],"baseline":[{"action":{"type":"deny"},"id":"words","kind":"stop_list","stopList":{"caseSensitive":false,"match":"token","terms":["forbidden","ü€😀"]},"timeoutMs":20}],"deadlineMs":250},"response":{"additional":[],"baseline":[{"action":{"type":"deny"},"id":"words","kind":"stop_list","stopList":{"caseSensitive":false,"match":"token","terms":["forbidden","ü€😀"]},"timeoutMs":20}],"deadlineMs":250},"revision":"3"}],"providers":[],"schema":"platform.guardrail-runtime.bundle/v1"}',
    '1a60a2951691ffbf99a925b8aa9bbf9b9fb0115731df1ac9f2a162ad5d0835b8',
  ],
];
