import { isWordByte } from './byte-classes.ts';
import { type Automaton, START_CONTEXTS, type StartContext } from './determinize.ts';

/** If more pairs of states than this would have to be examined, two places are assumed to be possible in one text. */
const MAX_PAIRS = 20_000;

/** For each byte, the index in START_CONTEXTS of the context that follows it. */
export const CONTEXT_AFTER = Uint8Array.from({ length: 256 }, (_, byte) => {
  const context: StartContext = byte === 0x0a ? 'line' : isWordByte(byte) ? 'word' : 'other';
  return START_CONTEXTS.indexOf(context);
});

/** Start states by context number; -1 if every byte leads to a state without a match. */
export function startStates({ starts, next, classCount }: Automaton): readonly number[] {
  return START_CONTEXTS.map((context) => {
    const start = starts[context];
    const leadsOn = start >= 0 && next.subarray(start * classCount, (start + 1) * classCount).some((to) => to >= 0);
    return leadsOn ? start : -1;
  });
}

/** A state of a probe, and the context of a place at this state. */
export type ProbeState = { readonly state: number; readonly context: number };

/**
 * The states in which a probe can be after `bytes` more bytes, if a new place to probe begins here and agrees with the
 * same bytes: empty if no text has both. With `unmatched`, no match of the probe may end after that place. Undefined if
 * the computation would take too long; callers must treat this as "any state".
 */
export function agreeing(
  automaton: Automaton,
  from: Iterable<ProbeState>,
  bytes: number,
  ends: 'anywhere' | 'unmatched' = 'anywhere',
): Set<number> | undefined {
  const { next, classCount, states, matched } = automaton;
  const starts = startStates(automaton);
  let pairs = new Set<number>();
  for (const { state, context } of from) {
    const start = starts[context] ?? -1;
    if (start >= 0) pairs.add(state * states + start);
  }
  for (let read = 0; read < bytes && pairs.size > 0; read += 1) {
    if (pairs.size > MAX_PAIRS) return undefined;
    // A state shows a match one byte late, so the first byte of the overlap may report a match that ends at the place
    // itself.
    const mayMatch = ends === 'anywhere' || read === 0;
    const after = new Set<number>();
    for (const pair of pairs) {
      const [ahead, behind] = [Math.floor(pair / states), pair % states];
      for (let symbol = 0; symbol < classCount; symbol += 1) {
        const first = next[ahead * classCount + symbol] ?? -1;
        const second = next[behind * classCount + symbol] ?? -1;
        if (first >= 0 && second >= 0 && (mayMatch || matched[first] !== 1)) after.add(first * states + second);
      }
    }
    pairs = after;
  }
  return new Set([...pairs].map((pair) => Math.floor(pair / states)));
}
