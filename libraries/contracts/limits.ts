/**
 * The numbers of the guardrail contract, each with its obligation. Both ends of a range are allowed; bytes are UTF-8
 * bytes on the wire.
 */
export const limits = {
  /** JSON body of a check, bytes (`guardrail:limits:max-body-bytes-edge`). */
  maxBodyBytes: { min: 256, max: 131_072, default: 32_768 },
  /** The largest number of messages, or of answer variants, in one check (`guardrail:limits:max-messages-edge-request`). */
  maxMessages: { min: 1, max: 64, default: 64 },
  /** Maximum number of replacements in one check (`guardrail:limits:max-matches-edge`). */
  maxMatches: { min: 1, max: 1_024, default: 256 },
  /** Maximum number of concurrent checks in one process (`guardrail:limits:max-concurrency-edge`). */
  maxConcurrency: { min: 1, max: 256, default: 32 },
  /** The size of the check queue is always 0: checks are never queued (`guardrail:limits:queue-size-zero`). */
  queueSize: { min: 0, max: 0, default: 0 },
  /** Stage budget, milliseconds (`guardrail:limits:deadline-ms-range`). */
  deadlineMs: { min: 1, max: 5_000, default: 250 },
  /** Rule time-out, milliseconds; never above the stage budget (`guardrail:limits:timeout-ms-range`). */
  timeoutMs: { min: 1, max: 5_000, default: 20 },
  /** Role of a message, code points (`guardrail:request-body:role-length-1-to-32`). */
  role: { min: 1, max: 32 },
  /** Content of a message as the interface schema declares it, code points (`guardrail:request-body:content-schema-max`). */
  contentSchemaMax: 2_097_152,
  /** Bundle file before and after canonical form, bytes (`guardrail:limits:bundle-file-size-raw`). */
  bundleBytes: 716_800,
  /** New bytes of a streaming window (`gateway:stream:window-1024`). */
  windowBytes: 1_024,
  /** Bytes before a streaming window that are checked again (`gateway:stream:overlap-256`). */
  overlapBytes: 256,
} as const;
