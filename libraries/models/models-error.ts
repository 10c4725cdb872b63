type ModelsFault = 'unavailable' | 'denied' | 'refused' | 'invalid';

const sentences = {
  unavailable: 'the model gateway does not answer the call now',
  denied: 'the guardrail of the model gateway denied the text',
  refused: 'the model gateway or the model does not accept the text',
  invalid: 'the answer of the model does not have the expected shape',
} as const satisfies Record<ModelsFault, string>;

/** A call of a model had no usable answer. The message never contains a text, a token or an answer. */
export class ModelsError extends Error {
  readonly code: ModelsFault;
  /** Milliseconds after which the gateway requests another attempt; only for `unavailable`. */
  readonly retryAfterMs: number | undefined;
  /** Whether the answer did not come within the timeout of the call; true only for `unavailable`. */
  readonly isLate: boolean;

  /** `detail` names the fault in words of this program, such as the dimension that was found. */
  constructor(code: ModelsFault, detail?: string, retryAfterMs?: number, isLate = false) {
    super(detail === undefined ? sentences[code] : `${sentences[code]}: ${detail}`);
    this.name = 'ModelsError';
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.isLate = isLate;
  }
}
