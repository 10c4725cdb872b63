import { type ByteRange, type CheckedText, checkedText } from '../../checked-text.ts';
import { analysePattern } from '../cost/analyse-pattern.ts';
import { coverTransitions } from '../cost/cover-transitions.ts';
import { listsByProbes } from '../cost/pattern-cost.ts';
import { keyOf } from '../cost/pattern-figures.ts';
import { endsWithin, nextPlace, type ProbePlan } from '../cost/probe-plan.ts';
import { parsePattern } from '../syntax/parse-pattern.ts';
import type { PatternShape } from '../syntax/pattern-shape.ts';
import type { PatternFault, PatternSource } from '../syntax/pattern-tree.ts';
import { type CompiledGroup, compileGroup, type PreparedPattern } from './compile-group.ts';
import { type EnginePattern, openPattern } from './engine.ts';
import { type Matching, preparedMatching } from './matching.ts';
import { type NecessaryBytes, necessaryBytes, windowOf } from './necessary-bytes.ts';

/**
 * A compiled pattern. Both calls throw EngineError when the engine cannot answer, and never report "no match" instead.
 */
export type CompiledPattern = PreparedPattern & {
  readonly shape: PatternShape;
  /** Whether the pattern matches anywhere in the text; a group that has only this pattern returns the same. */
  test(bytes: Buffer): boolean;
  /**
   * The engine's own leftmost matches from left to right, never overlapping, at most `limit`. Zero-width matches count,
   * each place once.
   */
  matches(text: Buffer, limit: number): readonly ByteRange[];
  /** The engine's leftmost matches for a text that is given as bytes and as a string. */
  spans(text: CheckedText, limit: number): readonly ByteRange[];
  /**
   * Prepares a search for the matches, or parts of matches, that a function accepts: from left to right, never
   * overlapping, at most `limit`. A rejected match hides no other match: the search continues one character after its
   * start. Only for patterns with a plan for probes (acceptedCostMs).
   */
  acceptedSpans(): (acceptance: Acceptance) => readonly ByteRange[];
  /**
   * Makes the engine build the states that `matches` needs, so that no check does that work: call this once at load.
   * Does nothing if matching is `direct`.
   */
  buildAhead(): void;
};

/**
 * Compiles one pattern, or returns the reason why it is refused: by the syntax of google-re2 1.1.20251105
 * (parsePattern), or by the engine because it is too large. firingCostMs and spansCostMs estimate its cost.
 */
export function compilePattern(
  source: PatternSource,
  matching: Matching = preparedMatching,
): CompiledPattern | PatternFault {
  const tree = parsePattern(source);
  if ('reason' in tree) return tree;
  const written =
    tree.capturingSource === undefined ? undefined : openPattern(tree.capturingSource, tree.caseSensitive);
  if (written !== undefined && 'refused' in written) return { reason: written.refused };
  const engine = openPattern(tree.engineSource, tree.caseSensitive);
  if ('refused' in engine) return { reason: engine.refused };
  const analysis = analysePattern(tree, keyOf(source), matching.figures);
  const prepared: PreparedPattern = { tree, analysis, engine };
  let alone: CompiledGroup | undefined;
  let listing: Listing | undefined;

  function spans(text: CheckedText, limit: number): readonly ByteRange[] {
    listing ??= listingOf(prepared, matching);
    const { list, needed } = listing;
    return needed === undefined ? list(text.bytes, limit) : listInWindow(list, needed, text, limit);
  }

  return {
    ...prepared,
    shape: analysis.shape,
    test(bytes) {
      alone ??= groupOf(prepared, matching);
      return alone.firing(checkedText(bytes)).length > 0;
    },
    matches: (bytes, limit) => spans(checkedText(bytes), limit),
    spans,
    acceptedSpans() {
      if (matching.kind === 'direct') {
        const find = findOf(prepared);
        // The plan is worked out only for a text with a match.
        const endsOf: EndsOf = (bytes, match) => endsWithin(planOf(prepared), bytes, match);
        return (acceptance) => acceptBySearch(find, endsOf, acceptance);
      }
      const plan = planOf(prepared);
      coverTransitions(plan.automaton, engine.matchAt);
      return (acceptance) => acceptByProbes(engine, plan, acceptance);
    },
    buildAhead() {
      if (matching.kind === 'direct') return;
      listing ??= listingOf(prepared, matching);
      const { plan } = listing;
      const automaton = plan?.automaton ?? analysis.listing.search()?.forward;
      const search = plan === undefined ? engine.find : engine.matchAt;
      if (automaton !== undefined) coverTransitions(automaton, search);
    },
  };
}

function groupOf(pattern: PreparedPattern, matching: Matching): CompiledGroup {
  const group = compileGroup([pattern], matching);
  if ('reason' in group) throw new Error('the engine accepts a pattern alone and refuses it in a set');
  return group;
}

function listByProbes(engine: EnginePattern, plan: ProbePlan, bytes: Buffer, limit: number): ByteRange[] {
  const spans: ByteRange[] = [];
  for (let at = nextPlace(plan, bytes, 0); at >= 0 && spans.length < limit; ) {
    const end = engine.matchAt(bytes, at);
    if (end >= 0) spans.push({ start: at, end });
    at = nextPlace(plan, bytes, end >= 0 ? end : at + 1);
  }
  return spans;
}

type Acceptance = {
  readonly bytes: Buffer;
  readonly limit: number;
  /**
   * The end of the part of a match that is accepted, or -1.
   * @param ends lists the ends at which the pattern can stop (endsWithin)
   */
  readonly acceptedEnd: (match: ByteRange, ends: () => readonly number[]) => number;
  /**
   * Whether an accepted part hides no other part either: the search then also continues one character after its start,
   * and overlapping parts are united.
   */
  readonly overlapping: boolean;
};
type EndsOf = (bytes: Buffer, match: ByteRange) => readonly number[];

function planOf({ analysis }: PreparedPattern): ProbePlan {
  const plan = analysis.listing.probe();
  if (plan === undefined) throw new Error('a pattern without a plan to probe was admitted with a test of its matches');
  return plan;
}

function acceptByProbes(engine: EnginePattern, plan: ProbePlan, acceptance: Acceptance): ByteRange[] {
  const { bytes, acceptedEnd, overlapping } = acceptance;
  const spans: ByteRange[] = [];
  for (let at = nextPlace(plan, bytes, 0); at >= 0 && wantsMore(spans, at, acceptance); ) {
    const match = { start: at, end: engine.matchAt(bytes, at) };
    const end = match.end < 0 ? -1 : acceptedEnd(match, () => endsWithin(plan, bytes, match));
    if (end >= 0) unite(spans, { start: at, end });
    at = nextPlace(plan, bytes, end >= 0 && !overlapping ? end : at + 1);
  }
  return spans;
}

function acceptBySearch(find: Find, endsOf: EndsOf, acceptance: Acceptance): ByteRange[] {
  const { bytes, acceptedEnd, overlapping } = acceptance;
  const spans: ByteRange[] = [];
  for (let from = 0; from <= bytes.length; ) {
    const found = find(bytes, from);
    if (found === undefined || !wantsMore(spans, found.start, acceptance)) break;
    const end = acceptedEnd(found, () => endsOf(bytes, found));
    if (end >= 0) unite(spans, { start: found.start, end });
    from = end >= 0 && !overlapping ? end : nextCharacter(bytes, found.start);
  }
  return spans;
}

/** Whether a match that starts at this place can be one of the first `limit` spans, or can extend the last of them. */
function wantsMore(spans: readonly ByteRange[], start: number, { limit }: Acceptance): boolean {
  return spans.length < limit || start < (spans.at(-1)?.end ?? 0);
}

/** Adds a span that starts after the start of the last span; overlapping spans are united. */
function unite(spans: ByteRange[], span: ByteRange): void {
  const last = spans.at(-1);
  if (last === undefined || span.start >= last.end) spans.push(span);
  else spans[spans.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
}

type Find = EnginePattern['find'];
/** The way in which the matches of a pattern are listed: by probes if there is a plan, else by searching. */
type Listing = {
  readonly plan: ProbePlan | undefined;
  readonly list: (bytes: Buffer, limit: number) => readonly ByteRange[];
  readonly needed: NecessaryBytes | undefined;
};

/** Comparing the costs of both ways takes as long as listing matches in a short text, so that it is done only once. */
function listingOf(pattern: PreparedPattern, { kind }: Matching): Listing {
  const { analysis, engine, tree } = pattern;
  const plan = kind === 'prepared' && listsByProbes(analysis) ? analysis.listing.probe() : undefined;
  const find = findOf(pattern);
  return {
    plan,
    list: (bytes, limit) =>
      plan === undefined ? listBySearch(find, bytes, limit) : listByProbes(engine, plan, bytes, limit),
    needed: necessaryBytes([tree.node]),
  };
}

function listInWindow(
  list: Listing['list'],
  needed: NecessaryBytes,
  text: CheckedText,
  limit: number,
): readonly ByteRange[] {
  const window = windowOf(text, needed);
  if (window === undefined) return [];
  const { start: offset, end } = window;
  const found = list(text.bytes.subarray(offset, end), limit);
  return offset === 0 ? found : found.map((span) => ({ start: span.start + offset, end: span.end + offset }));
}

/**
 * RE2 finds a zero-width `\B` between the bytes of a character; npm re2 hides such places from a search, though not
 * from a question about one place. The result must be that of RE2.
 */
function findOf({ tree, analysis, engine }: PreparedPattern): Find {
  if (!analysis.shape.canMatchEmpty || !tree.engineSource.includes('\\B')) return engine.find;
  return (bytes, from) => {
    for (let start = from; start <= bytes.length; start += 1) {
      const end = engine.matchAt(bytes, start);
      if (end >= 0) return { start, end };
    }
    return undefined;
  };
}

function listBySearch(find: Find, bytes: Buffer, limit: number): ByteRange[] {
  const spans: ByteRange[] = [];
  for (let from = 0; from <= bytes.length && spans.length < limit; ) {
    const found = find(bytes, from);
    if (found === undefined) break;
    spans.push(found);
    from = found.end > found.start ? found.end : nextCharacter(bytes, found.end);
  }
  return spans;
}

/**
 * The offset of the character after the one at `from`; after the last character, an offset beyond the end of the text.
 */
function nextCharacter(bytes: Buffer, from: number): number {
  let next = from + 1;
  while (next < bytes.length && ((bytes[next] ?? 0) & 0xc0) === 0x80) next += 1;
  return next;
}
