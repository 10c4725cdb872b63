import type { PatternShape } from '../pattern-shape.ts';
import { isWordByte } from './byte-classes.ts';
import { type Automaton, START_CONTEXTS, type StartContext } from './determinize.ts';

/** How many bytes after the begin of a match are looked at before the engine is asked. */
const MAX_DEPTH = 24;

/**
 * A way to find matches without searching: only places where a match can begin, judged by their first bytes, are put to
 * the engine, each by itself. Bounded gaps such as `.{0,60}` cost a search one state per set of open gaps, and a probe
 * only one per position in the gap.
 */
export type ProbePlan = {
  /** By context of the place (its number in START_CONTEXTS) times 256 plus byte: 1 for each first byte of a match. */
  readonly first: Uint8Array;
  /** By byte: bit n for "can be byte number n of a match", counted from 0. */
  readonly follow: Int32Array;
  /** How many bytes are looked at. */
  readonly depth: number;
  /** Two places to probe are at least this many bytes apart, in any text; Infinity when only the text's begin is one. */
  readonly distance: number;
  /** The same in characters; at least 1. */
  readonly characterDistance: number;
  /** A probe reads at most so many bytes, and so many characters. */
  readonly reach: number;
  readonly characterReach: number;
};

/** The probe plan of a pattern; `anchored` is its leftmost-first automaton without a search, from every start context. */
export function probePlan(anchored: Automaton, shape: PatternShape): ProbePlan | undefined {
  if (shape.canMatchEmpty || shape.maxBytes === Number.POSITIVE_INFINITY) return undefined;
  const depth = Math.max(1, Math.min(MAX_DEPTH, shape.minBytes));
  const first = new Uint8Array(256 * START_CONTEXTS.length);
  for (const [number, context] of START_CONTEXTS.entries()) markFirstBytes(anchored, context, first, 256 * number);
  const follow = new Int32Array(256);
  let layer = new Set<number>(START_CONTEXTS.map((context) => anchored.starts[context]).filter((state) => state >= 0));
  for (let level = 0; level < depth; level += 1) {
    const below = new Set<number>();
    for (let byte = 0; byte < 256; byte += 1) {
      for (const state of layer) {
        const next = anchored.next[state * anchored.classCount + (anchored.classOf[byte] ?? 0)] ?? -1;
        if (next < 0) continue;
        below.add(next);
        follow[byte] = (follow[byte] ?? 0) | (1 << level);
      }
    }
    layer = below;
  }
  const distance = distanceOf(first, follow, depth);
  return {
    first,
    follow,
    depth,
    distance,
    characterDistance: charactersWithin(follow, Math.min(distance, depth)),
    reach: shape.maxBytes + 1,
    characterReach: shape.maxCharacters + 1,
  };
}

/** How many of a match's first bytes are no continuation bytes for certain: each begins a character. */
function charactersWithin(follow: Int32Array, bytes: number): number {
  let certain = 0;
  for (let level = 0; level < bytes; level += 1) {
    let continues = false;
    for (let byte = 0x80; byte < 0xc0; byte += 1) if (((follow[byte] ?? 0) & (1 << level)) !== 0) continues = true;
    if (!continues) certain += 1;
  }
  return Math.max(1, certain);
}

/** The first place at or after `from` that may begin a match, or -1. */
export function nextPlace(plan: ProbePlan, bytes: Uint8Array, from: number): number {
  const { first, follow, depth } = plan;
  const last = bytes.length - depth;
  let before = from > 0 ? (CONTEXT_AFTER[bytes[from - 1] ?? 0] ?? 0) : 0;
  for (let at = from; at <= last; at += 1) {
    const byte = bytes[at] ?? 0;
    if (first[before + byte] === 1) {
      let level = 1;
      while (level < depth && ((follow[bytes[at + level] ?? 0] ?? 0) & (1 << level)) !== 0) level += 1;
      if (level === depth) return at;
    }
    before = CONTEXT_AFTER[byte] ?? 0;
  }
  return -1;
}

/** By byte: 256 times the number of the context that a place after it has. */
const CONTEXT_AFTER = Int32Array.from({ length: 256 }, (_, byte) => {
  const context: StartContext = byte === 0x0a ? 'line' : isWordByte(byte) ? 'word' : 'other';
  return 256 * START_CONTEXTS.indexOf(context);
});

function markFirstBytes(anchored: Automaton, context: StartContext, first: Uint8Array, offset: number): void {
  const start = anchored.starts[context];
  if (start < 0) return;
  for (let byte = 0; byte < 256; byte += 1) {
    const next = anchored.next[start * anchored.classCount + (anchored.classOf[byte] ?? 0)] ?? -1;
    first[offset + byte] = next >= 0 ? 1 : 0;
  }
}

/** The smallest shift at which a place's first bytes allow another place. */
function distanceOf(first: Uint8Array, follow: Int32Array, depth: number): number {
  const insideText = first.subarray(256);
  if (!insideText.includes(1)) return Number.POSITIVE_INFINITY;
  for (let shift = 1; shift <= depth; shift += 1) if (overlaps(first, follow, depth, shift)) return shift;
  return depth + 1;
}

function overlaps(first: Uint8Array, follow: Int32Array, depth: number, shift: number): boolean {
  const allows = (level: number, byte: number) => level >= depth || ((follow[byte] ?? 0) & (1 << level)) !== 0;
  let begins = false;
  for (let before = 0; before < 256 && !begins; before += 1) {
    if (!allows(shift - 1, before)) continue;
    const offset = CONTEXT_AFTER[before] ?? 0;
    for (let byte = 0; byte < 256 && !begins; byte += 1) begins = first[offset + byte] === 1 && allows(shift, byte);
  }
  if (!begins) return false;
  for (let level = 1; level + shift < depth; level += 1) {
    let shared = false;
    for (let byte = 0; byte < 256 && !shared; byte += 1) shared = allows(level, byte) && allows(level + shift, byte);
    if (!shared) return false;
  }
  return true;
}
