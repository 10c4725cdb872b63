import type { Automaton } from './determinize.ts';

const MAX_PAIRS = 60_000;

/**
 * Whether the engine reads each byte of a text at most twice while it finds one match after another. After a match the
 * engine reads further to see whether the match can be longer, and the next search begins at the end of the match. This
 * is only a constant factor unless another match can end while the engine still reads further for the previous match;
 * in that case, a text can make the engine read the rest of the text again for every match. `first` is the automaton of
 * the unanchored leftmost-first search from every start context.
 */
export function readsBytesTwiceAtMost(first: Automaton): boolean {
  const { classCount, next, matched, states, starts } = first;
  const seen = new Set<number>();
  const pairs: [number, number][] = [];
  const add = (ahead: number, behind: number): void => {
    const key = ahead * states + behind;
    if (ahead < 0 || behind < 0 || seen.has(key)) return;
    seen.add(key);
    pairs.push([ahead, behind]);
  };
  for (let state = 0; state < states; state += 1) {
    for (let symbol = 0; symbol < classCount; symbol += 1) {
      const after = next[state * classCount + symbol] ?? -1;
      if (after < 0 || matched[after] !== 1) continue;
      for (const start of [starts.line, starts.word, starts.other]) {
        if (start >= 0) add(after, next[start * classCount + symbol] ?? -1);
      }
    }
  }
  for (let at = 0; at < pairs.length; at += 1) {
    if (pairs.length > MAX_PAIRS) return false;
    const [ahead, behind] = pairs[at] ?? [0, 0];
    for (let symbol = 0; symbol < classCount; symbol += 1) {
      const further = next[ahead * classCount + symbol] ?? -1;
      if (further < 0 || matched[further] === 1) continue;
      const found = next[behind * classCount + symbol] ?? -1;
      if (found >= 0 && matched[found] === 1) return false;
      add(further, found);
    }
  }
  return true;
}
