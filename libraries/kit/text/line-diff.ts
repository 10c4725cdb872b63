import { diff } from 'node:util';

/** A line of either text: it is in both texts, was removed from the first, or was added by the second. */
export type DiffLine = { readonly kind: 'kept' | 'removed' | 'added'; readonly line: string };

/**
 * Ranges with more lines than this are replaced as a whole, because comparing lines one by one takes quadratic time.
 */
const maxCompared = 2_000;

/**
 * The difference of two texts, as lines. It first matches lines that occur once in both texts (patience diff, by Bram
 * Cohen), so that long lists of terms are compared in about the time of a sort; between these lines the shortest
 * difference is found if the ranges are small enough.
 */
export function lineDiff(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const head = commonLength(before, after, (lines, at) => lines[at]);
  const rest = [before.slice(head), after.slice(head)] as const;
  const tail = commonLength(...rest, (lines, at) => lines[lines.length - 1 - at]);
  const [removed, added] = rest.map((lines) => lines.slice(0, lines.length - tail)) as [string[], string[]];
  return [
    ...all('kept', before.slice(0, head)),
    ...between(removed, added),
    ...all('kept', before.slice(before.length - tail)),
  ];
}

function commonLength(
  a: readonly string[],
  b: readonly string[],
  lineOf: (lines: readonly string[], at: number) => string | undefined,
): number {
  const longest = Math.min(a.length, b.length);
  let length = 0;
  while (length < longest && lineOf(a, length) === lineOf(b, length)) length += 1;
  return length;
}

/** The remaining texts have no common first or last line. */
function between(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length === 0 || after.length === 0) return replaced(before, after);
  const anchors = longestRising(uniqueInBoth(before, after));
  if (anchors.length === 0) return direct(before, after);
  const found: DiffLine[] = [];
  let [from, to] = [0, 0];
  for (const { a, b } of anchors) {
    for (const line of lineDiff(before.slice(from, a), after.slice(to, b))) found.push(line);
    found.push({ kind: 'kept', line: before[a] ?? '' });
    [from, to] = [a + 1, b + 1];
  }
  return [...found, ...lineDiff(before.slice(from), after.slice(to))];
}

function direct(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length + after.length > maxCompared) return replaced(before, after);
  const kinds = { '-1': 'removed', '0': 'kept', '1': 'added' } as const;
  const entries = diff(after, before).map(([kind, line]) => ({ kind: kinds[`${kind}`], line }));
  return removedFirst(entries);
}

/** Within one change removed lines come before added lines. */
function removedFirst(lines: readonly DiffLine[]): readonly DiffLine[] {
  const ordered: DiffLine[] = [];
  let added: DiffLine[] = [];
  for (const line of lines) {
    if (line.kind === 'added') {
      added.push(line);
      continue;
    }
    if (line.kind === 'kept') {
      ordered.push(...added);
      added = [];
    }
    ordered.push(line);
  }
  return [...ordered, ...added];
}

function replaced(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  return [...all('removed', before), ...all('added', after)];
}

function all(kind: DiffLine['kind'], lines: readonly string[]): readonly DiffLine[] {
  return lines.map((line) => ({ kind, line }));
}

type Pair = { readonly a: number; readonly b: number };

/** Positions of lines that occur exactly once in each text, in the order of the first text. */
function uniqueInBoth(before: readonly string[], after: readonly string[]): readonly Pair[] {
  const places = uniquePlaces(after);
  const pairs: Pair[] = [];
  for (const [line, a] of uniquePlaces(before)) {
    const b = places.get(line);
    if (b !== undefined) pairs.push({ a, b });
  }
  return pairs;
}

function uniquePlaces(lines: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const repeated = new Set<string>();
  for (const [at, line] of lines.entries()) {
    if (places.has(line)) repeated.add(line);
    places.set(line, at);
  }
  for (const line of repeated) places.delete(line);
  return places;
}

/** The longest sequence of pairs in which both positions increase; the first positions are already in order. */
function longestRising(pairs: readonly Pair[]): readonly Pair[] {
  const piles: Pair[] = [];
  const previous = new Map<Pair, Pair | undefined>();
  for (const pair of pairs) {
    const at = firstNotBelow(piles, pair.b);
    previous.set(pair, piles[at - 1]);
    piles[at] = pair;
  }
  const run: Pair[] = [];
  for (let pair = piles.at(-1); pair !== undefined; pair = previous.get(pair)) run.push(pair);
  return run.reverse();
}

function firstNotBelow(piles: readonly Pair[], b: number): number {
  let [low, high] = [0, piles.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((piles[middle]?.b ?? 0) < b) low = middle + 1;
    else high = middle;
  }
  return low;
}
