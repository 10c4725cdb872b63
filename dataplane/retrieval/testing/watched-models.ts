import { ModelsError } from '#models/models-error';
import type { Models } from '#models/ports';

type Fault = ConstructorParameters<typeof ModelsError>[0];
type Call = 'embed' | 'rerank' | 'complete';

/**
 * Models that embed a sloop like a harbour, rank in reverse order and rewrite a wharf; they record the calls of
 * queries.
 */
export function openWatchedModels(): Models & {
  readonly calls: string[];
  fail(call: Call, fault: Fault): void;
  /** Leaves the embedding of the next query unanswered; resolves with the signal of that call. */
  hang(): Promise<AbortSignal>;
  reset(): void;
} {
  const calls: string[] = [];
  const faults = new Map<Call, Fault>();
  let onHung: ((signal: AbortSignal) => void) | undefined;
  const answer = (call: Call): void => {
    const fault = faults.get(call);
    if (fault !== undefined) throw new ModelsError(fault);
  };
  return {
    calls,
    fail: (call, fault) => void faults.set(call, fault),
    reset() {
      onHung = undefined;
      calls.length = 0;
      faults.clear();
    },
    hang() {
      const { promise, resolve } = Promise.withResolvers<AbortSignal>();
      onHung = resolve;
      return promise;
    },
    async embed(_profile, use, texts, { signal } = {}) {
      if (use === 'query') {
        calls.push(`embed query ${texts.join()}`);
        answer('embed');
        if (onHung !== undefined && signal !== undefined) await neverAnswered(signal, onHung);
      }
      return texts.map((text) => axis(text.includes('ledger') ? 1 : /^(harbour|sloop)$/.test(text) ? 0 : 2));
    },
    async rerank({ model }, _query, documents) {
      calls.push(`rerank ${model}`);
      answer('rerank');
      return documents.map((_, index) => ({ index, score: index })).toReversed();
    },
    async complete(_model, { user }) {
      answer('complete');
      return user.replace('wharf', 'harbour');
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function neverAnswered(signal: AbortSignal, onHung: (signal: AbortSignal) => void): Promise<never> {
  onHung(signal);
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function axis(at: number): Float32Array {
  return Float32Array.from({ length: 8 }, (_, index) => (index === at ? 1 : 0));
}
