/**
 * The numbers of the guardrail contract, each with its place in it.
 * Ranges are inclusive on both sides; bytes are bytes of UTF-8 as sent on the wire.
 */
export const limits = {
  /** JSON body of a check (document 1, section 8). */
  maxBodyBytes: { min: 256, max: 131_072, default: 32_768 },
  /** Messages or answer variants of one check (document 1, sections 2.1, 2.2, 8). */
  maxMessages: { min: 1, max: 64, default: 32 },
  /** Replacement spans of one check (document 1, section 8). */
  maxMatches: { min: 1, max: 1_024, default: 256 },
  /** Checks at the same time in one process (document 1, section 8). */
  maxConcurrency: { min: 1, max: 256, default: 32 },
  /** There is no queue (document 1, sections 1 and 8). */
  queueSize: { min: 0, max: 0, default: 0 },
  /** Stage budget, milliseconds (document 1, section 8). */
  deadlineMs: { min: 1, max: 5_000, default: 250 },
  /** Rule time-out, milliseconds; never above the stage budget (document 1, section 8). */
  timeoutMs: { min: 1, max: 5_000, default: 20 },
  /** Role of a message, code points (document 1, section 2.1). */
  role: { min: 1, max: 32 },
  /** Content of a message as the interface schema declares it, code points (document 1, section 2.1). */
  contentSchemaMax: 2_097_152,
  /** Content of a message as the contract text states it, code points (document 1, section 2.1). */
  contentMax: 131_072,
  /** Bundle file before and after canonical form, bytes (document 1, section 8). */
  bundleBytes: 716_800,
  /** New bytes of a streaming window (document 1, section 4.7). */
  windowBytes: 1_024,
  /** Bytes before a streaming window that are judged again (document 1, section 4.7). */
  overlapBytes: 256,
} as const;
