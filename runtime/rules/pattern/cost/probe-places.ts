import { isWordByte } from './byte-classes.ts';
import { type Automaton, START_CONTEXTS, type StartContext } from './determinize.ts';

/** Beyond this many pairs of states two places count as possible in one text. */
const MAX_PAIRS = 20_000;

/** By byte: the number, in START_CONTEXTS, of the context that a place after it has. */
export const CONTEXT_AFTER = Uint8Array.from({ length: 256 }, (_, byte) => {
  const context: StartContext = byte === 0x0a ? 'line' : isWordByte(byte) ? 'word' : 'other';
  return START_CONTEXTS.indexOf(context);
});

/** The start states by number of context. */
export function startStates({ starts }: Automaton): readonly number[] {
  return [starts.text, starts.line, starts.word, starts.other];
}

/** A state of a probe, and the context that a place has there. */
export type ProbeState = { readonly state: number; readonly context: number };

/** Whether a probe in one of the states and a new one that begins there can both go on for `bytes` bytes. */
export function canAgree(automaton: Automaton, places: Iterable<ProbeState>, bytes: number): boolean {
  const { next, classCount, states } = automaton;
  const starts = startStates(automaton);
  let pairs = new Set<number>();
  for (const { state, context } of places) {
    const start = starts[context] ?? -1;
    if (start >= 0) pairs.add(state * states + start);
  }
  for (let read = 0; read < bytes && pairs.size > 0; read += 1) {
    if (pairs.size > MAX_PAIRS) return true;
    const after = new Set<number>();
    for (const pair of pairs) {
      const [ahead, behind] = [Math.floor(pair / states), pair % states];
      for (let symbol = 0; symbol < classCount; symbol += 1) {
        const first = next[ahead * classCount + symbol] ?? -1;
        const second = next[behind * classCount + symbol] ?? -1;
        if (first >= 0 && second >= 0) after.add(first * states + second);
      }
    }
    pairs = after;
  }
  return pairs.size > 0;
}
