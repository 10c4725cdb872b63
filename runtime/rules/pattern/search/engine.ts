import RE2 from 're2';
import { SET_MEMORY_BYTES } from '../cost/engine-memory.ts';

/** Why the engine could not answer. Callers must never treat this error as "no match". */
type EngineErrorCode = 'engine_out_of_memory' | 'engine_failed';

/** The engine stopped with an error; the message contains neither pattern nor text. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode) {
    super(code === 'engine_out_of_memory' ? 'the matching engine is out of memory' : 'the matching engine failed');
    this.code = code;
  }
}

/** One compiled expression. `source` is the text that RE2 receives, byte for byte. */
export type EnginePattern = {
  /** The leftmost match that begins at or after `from`, or undefined. */
  find(bytes: Buffer, from: number): { start: number; end: number } | undefined;
  /** The end of the match that begins exactly at `from`, or -1. */
  matchAt(bytes: Buffer, from: number): number;
};

/** Several expressions that are searched in one pass. */
type EngineSet = {
  /** Ascending indexes of the expressions that match somewhere in the text. */
  firing(bytes: Buffer): number[];
};

/** The engine's message about a refused expression, without the expression. */
type EngineRefusal = { readonly refused: string };

/**
 * Compiles one expression with the meaning of google-re2's default options: UTF-8, `^` and `$` at the ends of the text,
 * `.` without newline, leftmost-first. Without the flags m and s, npm re2 sets exactly these options.
 */
export function openPattern(source: string, caseSensitive: boolean): EnginePattern | EngineRefusal {
  const pattern = Buffer.from(source);
  const flags = caseSensitive ? 'u' : 'iu';
  let search: RE2;
  let anchored: RE2 | undefined;
  try {
    search = new RE2(pattern, `g${flags}`);
  } catch (error) {
    return refusal(error);
  }
  if (source !== '' && search.internalSource !== source)
    return { refused: 'npm re2 would rewrite the expression, so that the engine would match other texts' };
  return {
    find(bytes, from) {
      search.lastIndex = from;
      if (from === 0 && bytes.length <= SHORT) return guarded(() => findFirst(search, bytes));
      const found = guarded(() => search.exec(bytes));
      return found === null ? undefined : { start: found.index, end: found.index + found[0].length };
    },
    matchAt(bytes, from) {
      anchored ??= new RE2(pattern, `y${flags}`);
      const probe = anchored;
      probe.lastIndex = from;
      return guarded(() => probe.test(bytes)) ? probe.lastIndex : -1;
    },
  };
}

/** For short texts, two plain calls are faster than the objects that one `exec` creates. */
const SHORT = 1_024;

function findFirst(search: RE2, bytes: Buffer): { start: number; end: number } | undefined {
  if (!search.test(bytes)) return undefined;
  const end = search.lastIndex;
  return { start: search.search(bytes), end };
}

/** Compiles several expressions into a set; the options are those of openPattern, with case sensitivity. */
export function openSet(sources: readonly string[]): EngineSet | EngineRefusal {
  let set: InstanceType<typeof RE2.Set>;
  try {
    const patterns = sources.map((source) => Buffer.from(source));
    set = new RE2.Set(patterns, 'u', { maxMem: SET_MEMORY_BYTES });
  } catch (error) {
    return refusal(error);
  }
  return { firing: (bytes) => guarded(() => set.match(bytes)) };
}

function refusal(error: unknown): EngineRefusal {
  const message = error instanceof Error ? error.message : '';
  return {
    refused:
      message.includes('too large') || message.includes('compile')
        ? 'the pattern is too large for the engine'
        : 'invalid syntax',
  };
}

function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    const outOfMemory = error instanceof Error && error.message.includes('out of memory');
    throw new EngineError(outOfMemory ? 'engine_out_of_memory' : 'engine_failed');
  }
}
