import type { RuneSet } from '../../unicode/rune-set.ts';
import type { Assertion, PatternNode } from '../syntax/pattern-tree.ts';
import { type ByteSequence, utf8Sequences } from './utf8-sequences.ts';

/** Empty-width conditions, as bits; read in the direction of the search. */
export const CONDITION = { textStart: 1, textEnd: 2, lineStart: 4, lineEnd: 8, word: 16, noWord: 32 } as const;

/** One instruction list: RE2 flattens its programs to such lists. */
type Instruction =
  | { readonly kind: 'match' }
  /** Flattened `[low, high, target, …]`: a byte in a range continues at the target. */
  | { readonly kind: 'bytes'; readonly edges: readonly number[] }
  | { readonly kind: 'split'; targets: readonly number[] }
  | { readonly kind: 'condition'; readonly needs: number; readonly target: number };

/** A nondeterministic automaton over bytes, equal in meaning to a pattern; number 0 is the match. */
export type ByteProgram = {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  /** Number of byte ranges in all instructions: the largest number that one step of the engine's slow path examines. */
  readonly edgeCount: number;
};

/** Programs with more byte ranges than this are not analysed: their patterns count as too costly. */
const MAX_EDGES = 8_000;

/**
 * Compiles a pattern to a byte program for a search from left to right or (`reversed`) from right to left; undefined
 * when it is too large.
 */
export function compileProgram(node: PatternNode, reversed: boolean): ByteProgram | undefined {
  const builder: Builder = { instructions: [{ kind: 'match' }], edgeCount: 0, reversed, sequences: new Map() };
  const start = generate(builder, node, 0);
  return start < 0 ? undefined : { instructions: builder.instructions, start, edgeCount: builder.edgeCount };
}

/** The program with `.*?` over bytes before it: the match may begin anywhere. */
export function unanchored(program: ByteProgram): ByteProgram {
  const loop = program.instructions.length;
  const skip: Instruction = { kind: 'bytes', edges: [0, 255, loop] };
  const choice: Instruction = { kind: 'split', targets: [program.start, loop + 1] };
  return {
    instructions: [...program.instructions, choice, skip],
    start: loop,
    edgeCount: program.edgeCount + 1,
  };
}

type Builder = {
  readonly instructions: Instruction[];
  edgeCount: number;
  readonly reversed: boolean;
  readonly sequences: Map<RuneSet, readonly ByteSequence[]>;
};

function add(builder: Builder, instruction: Instruction): number {
  builder.instructions.push(instruction);
  builder.edgeCount += instruction.kind === 'bytes' ? instruction.edges.length / 3 : 1;
  return builder.instructions.length - 1;
}

/**
 * Generates the instructions of the node that continue at `next`; returns its first instruction, or -1 once the program
 * is too large.
 */
function generate(builder: Builder, node: PatternNode, next: number): number {
  if (next < 0 || builder.edgeCount > MAX_EDGES) return -1;
  switch (node.kind) {
    case 'empty':
      return next;
    case 'any-byte':
      return add(builder, { kind: 'bytes', edges: [0, 255, next] });
    case 'assertion':
      return add(builder, { kind: 'condition', needs: conditionOf(node.at, builder.reversed), target: next });
    case 'runes':
      return generateSet(builder, node.set, next);
    case 'concat': {
      const items = builder.reversed ? node.items : node.items.toReversed();
      return items.reduce((after, item) => generate(builder, item, after), next);
    }
    case 'either': {
      const targets = node.items.map((item) => generate(builder, item, next));
      return targets.includes(-1) ? -1 : add(builder, { kind: 'split', targets });
    }
    case 'repeat':
      return generateRepeat(builder, node, next);
  }
}

type Repeat = Extract<PatternNode, { kind: 'repeat' }>;

/** `x{2,4}` becomes `xx(x(x)?)?`, `x{2,}` becomes `xx+`, as RE2 simplifies them. */
function generateRepeat(builder: Builder, node: Repeat, next: number): number {
  const { item, min, max, greedy } = node;
  const order = (inside: number, after: number) => (greedy ? [inside, after] : [after, inside]);
  let entry = next;
  let copies = min;
  if (max === Number.POSITIVE_INFINITY) {
    const loop: Extract<Instruction, { kind: 'split' }> = { kind: 'split', targets: [] };
    const at = add(builder, loop);
    const body = generate(builder, item, at);
    if (body < 0) return -1;
    loop.targets = order(body, next);
    entry = min > 0 ? body : at;
    copies = Math.max(0, min - 1);
  } else {
    for (let optional = min; optional < max && entry >= 0; optional += 1) {
      const body = generate(builder, item, entry);
      if (body < 0) return -1;
      entry = add(builder, { kind: 'split', targets: order(body, next) });
    }
  }
  for (; copies > 0 && entry >= 0; copies -= 1) entry = generate(builder, item, entry);
  return entry;
}

function conditionOf(at: Assertion, reversed: boolean): number {
  switch (at) {
    case 'text-start':
      return reversed ? CONDITION.textEnd : CONDITION.textStart;
    case 'text-end':
      return reversed ? CONDITION.textStart : CONDITION.textEnd;
    case 'line-start':
      return reversed ? CONDITION.lineEnd : CONDITION.lineStart;
    case 'line-end':
      return reversed ? CONDITION.lineStart : CONDITION.lineEnd;
    case 'word-boundary':
      return CONDITION.word;
    case 'no-word-boundary':
      return CONDITION.noWord;
  }
}

/** A set of characters as byte ranges; equal tails share their instructions. */
function generateSet(builder: Builder, set: RuneSet, next: number): number {
  let sequences = builder.sequences.get(set);
  if (sequences === undefined) {
    sequences = utf8Sequences(set).map((sequence) => (builder.reversed ? reversePairs(sequence) : sequence));
    builder.sequences.set(set, sequences);
  }
  return generateTails(builder, sequences, 0, next, new Map());
}

function reversePairs(sequence: ByteSequence): ByteSequence {
  const out: number[] = [];
  for (let at = sequence.length - 2; at >= 0; at -= 2) out.push(sequence[at] ?? 0, sequence[at + 1] ?? 0);
  return out;
}

/** One instruction for the byte sequences from byte number `depth` on; sequences with the same first range share it. */
function generateTails(
  builder: Builder,
  sequences: readonly ByteSequence[],
  depth: number,
  next: number,
  known: Map<string, number>,
): number {
  const edges: number[] = [];
  const groups = new Map<number, ByteSequence[]>();
  for (const sequence of sequences) {
    const key = (sequence[2 * depth] ?? 0) * 256 + (sequence[2 * depth + 1] ?? 0);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [sequence]);
    else group.push(sequence);
  }
  for (const [key, group] of groups) {
    const ends = group.some((sequence) => sequence.length === 2 * depth + 2);
    const longer = group.filter((sequence) => sequence.length > 2 * depth + 2);
    if (ends) edges.push(key >> 8, key & 255, next);
    if (longer.length > 0) edges.push(key >> 8, key & 255, generateTails(builder, longer, depth + 1, next, known));
  }
  const key = edges.join();
  const shared = known.get(key);
  if (shared !== undefined) return shared;
  const at = add(builder, { kind: 'bytes', edges });
  known.set(key, at);
  return at;
}
