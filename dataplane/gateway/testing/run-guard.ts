import type { StreamStop, WindowVerdict } from '../stream/stepped-guard.ts';
import { type StreamCoverage, StreamGuard } from '../stream/stream-guard.ts';

type GuardRun = {
  readonly emitted: string;
  /** The bytes that the guard had released each time it requested more input. */
  readonly beforeEnd: string;
  readonly windows: readonly string[];
  readonly end: { readonly kind: 'finished' } | { readonly kind: 'stopped'; readonly stop: StreamStop };
};

/**
 * Runs a stream guard on a stream in pieces; a function judges each text and receives it together with all texts of its
 * check.
 */
export function runGuard(
  parts: readonly Uint8Array[],
  judge?: (window: string, texts: readonly string[]) => WindowVerdict,
  coverage?: StreamCoverage,
): GuardRun {
  return runMachine(new StreamGuard(coverage), parts, judge);
}

type Guard = Pick<StreamGuard, 'next' | 'receive' | 'close' | 'judged'>;

/** Runs any guard of streams. */
export function runMachine(
  guard: Guard,
  parts: readonly Uint8Array[],
  judge: (window: string, texts: readonly string[]) => WindowVerdict = () => ({ kind: 'pass' }),
): GuardRun {
  const emitted: Buffer[] = [];
  const windows: string[] = [];
  const input = [...parts];
  let beforeEnd: string | undefined;
  const text = (): string => Buffer.concat(emitted).toString('utf8');
  for (;;) {
    const step = guard.next();
    if (step.kind === 'emit') emitted.push(step.bytes);
    else if (step.kind === 'check') {
      windows.push(...step.texts);
      const verdicts = step.texts.map((text) => judge(text, step.texts));
      guard.judged(verdicts.find(({ kind }) => kind !== 'pass') ?? { kind: 'pass' });
    } else if (step.kind === 'read') {
      const part = input.shift();
      if (part !== undefined) guard.receive(part);
      else {
        beforeEnd ??= text();
        guard.close();
      }
    } else return { emitted: text(), beforeEnd: beforeEnd ?? text(), windows, end: step };
  }
}

/** A judge that denies every window that contains the phrase. */
export function denies(phrase: string): (window: string) => WindowVerdict {
  return (window) => (window.includes(phrase) ? { kind: 'deny' } : { kind: 'pass' });
}

/** A judge that denies every window with a match, as a rule for whole words does. */
export function deniesMatch(pattern: RegExp): (window: string) => WindowVerdict {
  return (window) => (pattern.test(window) ? { kind: 'deny' } : { kind: 'pass' });
}
