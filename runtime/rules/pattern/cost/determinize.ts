import { byteClasses, isWordByte } from './byte-classes.ts';
import { type ByteProgram, CONDITION } from './byte-program.ts';

/**
 * How RE2 builds the states of a search (dfa.cc): `many` for a set (unordered, all matches), `first` for
 * leftmost-first (ordered, cut at a match), `longest` for the pass back to the begin of a match (unordered).
 */
export type SearchKind = 'many' | 'first' | 'longest';

/** Where a search begins: how the text stands to its left. */
export type StartContext = 'text' | 'line' | 'word' | 'other';
export const START_CONTEXTS: readonly StartContext[] = ['text', 'line', 'word', 'other'];

/** The deterministic automaton that the engine would build when driven through every transition. */
export type Automaton = {
  readonly classOf: Uint8Array;
  readonly classCount: number;
  readonly states: number;
  /** `next[state * classCount + class]`; -1 when nothing can match any more. */
  readonly next: Int32Array;
  /** By state: 1 when a match ended one byte before. */
  readonly matched: Uint8Array;
  /** By state: how many instructions the engine looks at to build one of its transitions. */
  readonly work: Int32Array;
  /** What the engine keeps for all states, in bytes (dfa.cc, CachedState). */
  readonly memoryBytes: number;
  /** First state by start context; -1 when nothing can match from there. */
  readonly starts: Readonly<Record<StartContext, number>>;
};

/**
 * Bounds on the analysis of one automaton; beyond them it counts as unbounded. They are what is left of 50 ms for one
 * pattern and of a few MiB for one automaton; a probe's automaton grows with its gaps, a set's with all their overlaps.
 */
export const MAX_TRANSITIONS: Readonly<Record<SearchKind | 'probe', number>> = {
  many: 32_000,
  first: 64_000,
  longest: 64_000,
  probe: 250_000,
};
const MAX_VISITS = 2_400_000;

const FLAG_LAST_WORD = 64;
const FLAG_MATCH = 128;

/** State header and hash entry, one pointer per class and end of text, one number per instruction (at most `work`). */
export function memoryOf(work: Int32Array, classCount: number): number {
  return work.reduce((sum, own) => sum + 42 + 8 * (classCount + 1) + 4 * own, 0);
}

type State = { readonly ids: readonly number[]; readonly flags: number };

/**
 * Builds all states that the program can reach from the given contexts, or undefined when they are too many to fit the
 * bounds. Mirrors RunStateOnByte: conditions wait in a state until the next byte decides them, and a match shows one
 * byte late.
 */
export function determinize(
  program: ByteProgram,
  kind: SearchKind,
  contexts: readonly StartContext[],
  maxTransitions: number = MAX_TRANSITIONS[kind],
): Automaton | undefined {
  const { classOf, count, samples } = byteClasses(program);
  const machine = createMachine(program, kind, samples);
  const numbers = new Map<string, number>();
  const states: State[] = [];
  const rows: Int32Array[] = [];
  const numberOf = (state: State): number => {
    if (state.ids.length === 0 && state.flags === 0) return -1;
    const key = keyOf(state);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, states.length);
    states.push(state);
    return states.length - 1;
  };
  const starts = { text: -1, line: -1, word: -1, other: -1 };
  for (const context of contexts) starts[context] = numberOf(machine.start(context));
  for (let at = 0; at < states.length; at += 1) {
    const state = states[at];
    if (state === undefined || states.length * count > maxTransitions || machine.visits() > MAX_VISITS)
      return undefined;
    rows.push(Int32Array.from(machine.steps(state), numberOf));
  }
  const work = Int32Array.from(states, (state) => machine.work(state));
  const next = new Int32Array(states.length * count);
  rows.forEach((row, at) => {
    next.set(row, at * count);
  });
  return {
    classOf,
    classCount: count,
    states: states.length,
    next,
    matched: Uint8Array.from(states, ({ flags }) => (flags & FLAG_MATCH ? 1 : 0)),
    work,
    memoryBytes: memoryOf(work, count),
    starts,
  };
}

/** A short string for a state: comparing strings is what JavaScript does fastest. */
function keyOf({ ids, flags }: State): string {
  let key = String.fromCharCode(flags);
  if (ids.length < 4096) return key + String.fromCharCode(...ids);
  for (const id of ids) key += String.fromCharCode(id);
  return key;
}

type Machine = {
  start(context: StartContext): State;
  /** The states after each class of bytes. */
  steps(state: State): State[];
  work(state: State): number;
  visits(): number;
};

function createMachine({ instructions, start }: ByteProgram, kind: SearchKind, samples: Uint8Array): Machine {
  const marks = new Int32Array(instructions.length);
  const targets: (readonly (readonly number[])[] | undefined)[] = [];
  const stack: number[] = [];
  let mark = 0;
  let visits = 0;
  let queue: number[] = [];

  /** Adds the instruction and what it leads to without a byte, in order of preference. */
  function enqueue(first: number, conditions: number): void {
    stack.push(first);
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (marks[id] === mark) continue;
      marks[id] = mark;
      visits += 1;
      const instruction = instructions[id];
      if (instruction === undefined) continue;
      if (instruction.kind === 'split') {
        for (let at = instruction.targets.length - 1; at >= 0; at -= 1) stack.push(instruction.targets[at] ?? 0);
        continue;
      }
      queue.push(id);
      if (instruction.kind === 'condition' && (instruction.needs & ~conditions) === 0) stack.push(instruction.target);
    }
  }

  function restart(): number[] {
    const before = queue;
    queue = [];
    mark += 1;
    return before;
  }

  function finish(flags: number): State {
    let waiting = false;
    let ids = restart();
    if (kind === 'first') {
      const match = ids.indexOf(0);
      if (match >= 0) ids = ids.slice(0, match + 1);
    } else {
      sortAscending(ids);
    }
    for (const id of ids) if (instructions[id]?.kind === 'condition') waiting = true;
    return { ids, flags: waiting ? flags : flags & FLAG_MATCH };
  }

  /** By class: where the byte ranges of the instruction lead. */
  function targetsOf(id: number): readonly (readonly number[])[] {
    const known = targets[id];
    if (known !== undefined) return known;
    const instruction = instructions[id];
    const edges = instruction?.kind === 'bytes' ? instruction.edges : [];
    const own = Array.from(samples, (byte) => {
      const found: number[] = [];
      for (let at = 0; at < edges.length; at += 3) {
        if (byte >= (edges[at] ?? 0) && byte <= (edges[at + 1] ?? 0)) found.push(edges[at + 2] ?? 0);
      }
      return found;
    });
    visits += (edges.length * samples.length) / 12;
    targets[id] = own;
    return own;
  }

  /** The threads of a state once the conditions before the next byte are known. */
  function threads(state: State, conditions: number): readonly number[] {
    restart();
    for (const id of state.ids) enqueue(id, conditions);
    return restart();
  }

  function stepOn(current: readonly number[], symbol: number): State {
    restart();
    const byte = samples[symbol] ?? 0;
    const after = byte === 0x0a ? CONDITION.lineStart : 0;
    let flags = after | (isWordByte(byte) ? FLAG_LAST_WORD : 0);
    for (const id of current) {
      visits += 1;
      if (id === 0) {
        flags |= FLAG_MATCH;
        if (kind === 'first') break;
      } else {
        for (const target of targetsOf(id)[symbol] ?? []) enqueue(target, after);
      }
    }
    return finish(flags);
  }

  return {
    start(context) {
      restart();
      const flags = startFlags(context);
      enqueue(start, flags);
      return finish(flags);
    },
    steps(state) {
      const byConditions = new Map<number, readonly number[]>();
      return Array.from(samples, (byte, symbol) => {
        const conditions = conditionsBefore(state, byte);
        const current = byConditions.get(conditions) ?? threads(state, conditions);
        byConditions.set(conditions, current);
        return stepOn(current, symbol);
      });
    },
    work(state) {
      let work = 1;
      for (const id of state.ids) {
        const instruction = instructions[id];
        work += instruction?.kind === 'bytes' ? instruction.edges.length / 3 : 1;
      }
      return work;
    },
    visits: () => visits,
  };
}

/** In place; most lists are a handful of numbers, for which this beats the built-in sort many times. */
function sortAscending(ids: number[]): void {
  if (ids.length > 48) {
    ids.sort((a, b) => a - b);
    return;
  }
  for (let end = 1; end < ids.length; end += 1) {
    const id = ids[end] ?? 0;
    let at = end;
    for (; at > 0 && (ids[at - 1] ?? 0) > id; at -= 1) ids[at] = ids[at - 1] ?? 0;
    ids[at] = id;
  }
}

function conditionsBefore(state: State, byte: number): number {
  const begun = state.flags & (CONDITION.textStart | CONDITION.lineStart);
  const ended = byte === 0x0a ? CONDITION.lineEnd : 0;
  const sameKind = isWordByte(byte) === ((state.flags & FLAG_LAST_WORD) !== 0);
  return begun | ended | (sameKind ? CONDITION.noWord : CONDITION.word);
}

function startFlags(context: StartContext): number {
  if (context === 'text') return CONDITION.textStart | CONDITION.lineStart;
  if (context === 'line') return CONDITION.lineStart;
  return context === 'word' ? FLAG_LAST_WORD : 0;
}
