/**
 * Limits of a flow, of its publish manifest and of a run. Both ends of a range are allowed; bytes are UTF-8 bytes. Each
 * source is a string that a custom resource must be able to hold.
 */
export const flowLimits = {
  /** A flow, a manifest or a file of tests, bytes. */
  sourceBytes: 262_144,
  /** Nesting depth of containers in a source. */
  sourceDepth: 48,
  nodes: 200,
  /** Nesting depth of regions: the flow itself, branches of a parallel node, the body of a loop, subflows. */
  nesting: 8,
  entrypoints: 16,
  /** Subflows that a version contains, and bytes of each. */
  subflows: 8,
  subflowBytes: 65_536,
  /**
   * All texts of a version as JSON, bytes: together with the other objects of its process they fit into one ConfigMap,
   * which has at most 1 MiB.
   */
  versionBytes: 983_040,
  edges: 800,
  /** Number of turns of one loop. */
  iterations: { min: 1, max: 10_000 },
  /** Number of concurrent branches or turns of one node, and of concurrent calls of one run. */
  width: { min: 1, max: 16 },
  branches: { min: 2, max: 64 },
  cases: 64,
  /** Steps after the root of an expression. */
  pathSteps: 16,
  /** Highest index in an expression. */
  index: 99_999,
  templateBytes: 65_536,
  conditionDepth: 16,
  conditionTerms: 256,
  /** Characters of a pattern. */
  patternLength: 4_096,
  /** Instructions of a compiled pattern, and bytes of a text that it reads: their product bounds the time of a match. */
  patternSize: 500,
  patternTextBytes: 32_768,
  /** Nesting depth of containers in a JSON Schema, and its subschemas after every reference is expanded. */
  schemaDepth: 24,
  schemaNodes: 2_000,
  messages: 64,
  tools: 32,
  /** Number of calls of the model by one prompt with tools. */
  turns: { min: 1, max: 20, default: 8 },
  maxTokens: { min: 1, max: 131_072 },
  topK: { min: 1, max: 100, default: 8 },
  tokenBudget: { min: 1, max: 200_000 },
  /** Timeout of one attempt of a node, milliseconds. */
  timeoutMs: { min: 1, max: 600_000, default: 60_000 },
  attempts: { min: 1, max: 5 },
  backoffMs: { min: 1, max: 30_000, default: 200 },
  /** Longest pause between two attempts, milliseconds. */
  maxBackoffMs: 60_000,
  /** Maximum size of the output of one node, and of the result of a run, as JSON without escapes. */
  outputBytes: 1_048_576,
  /** A value that a flow builds out of others, such as an input of a node, and the state: bytes as JSON without escapes. */
  builtBytes: 4_194_304,
  /** Nesting depth of containers in an output, and in a value that a flow builds. */
  outputDepth: 64,
  name: 128,
  description: 4_096,
  message: 1_024,
  testCases: 200,
  /** Limits that a publish manifest sets. */
  manifest: {
    requestBytes: { min: 1_024, max: 16_777_216, default: 1_048_576 },
    concurrency: { min: 1, max: 256, default: 8 },
    timeoutMs: 120_000,
    fileBytes: { min: 1, max: 67_108_864, default: 16_777_216 },
  },
  /** Limits of one run; a request may set lower limits. */
  run: {
    nodes: { min: 1, max: 100_000 },
    modelTokens: { min: 1, max: 2_000_000 },
    outputBytes: { min: 1, max: 67_108_864 },
    timeoutMs: { min: 1, max: 900_000 },
  },
} as const;
