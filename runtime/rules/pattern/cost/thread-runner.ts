import { isWordByte } from './byte-classes.ts';
import { type ByteProgram, CONDITION } from './byte-program.ts';
import type { SearchKind, StartContext } from './determinize.ts';

const FLAG_LAST_WORD = 64;
export const FLAG_MATCH = 128;

/** A state as RE2 has it: the instructions that wait for a byte, and flags of the position. */
export type State = { readonly ids: readonly number[]; readonly flags: number };

/**
 * Runs all threads of a program together, byte by byte (RunStateOnByte in dfa.cc): conditions stay in a state until the
 * next byte decides them, and a match is visible one byte later.
 */
export class ThreadRunner {
  /** The work done up to now, in examined instructions. */
  visits = 0;
  readonly #program: ByteProgram;
  readonly #kind: SearchKind;
  readonly #samples: Uint8Array;
  readonly #marks: Int32Array;
  readonly #targets: (readonly (readonly number[])[] | undefined)[] = [];
  readonly #stack: number[] = [];
  #mark = 0;
  #queue: number[] = [];

  /** @param samples one byte of each class of bytes */
  constructor(program: ByteProgram, kind: SearchKind, samples: Uint8Array) {
    this.#program = program;
    this.#kind = kind;
    this.#samples = samples;
    this.#marks = new Int32Array(program.instructions.length);
  }

  /** The automaton state in which a search begins. */
  start(context: StartContext): State {
    const flags = startFlags(context);
    this.#restart();
    this.#enqueue(this.#program.start, flags);
    return this.#finish(flags);
  }

  /** The next state for each byte class. */
  steps(state: State): State[] {
    const byConditions = new Map<number, readonly number[]>();
    return Array.from(this.#samples, (byte, symbol) => {
      const conditions = conditionsBefore(state, byte);
      const current = byConditions.get(conditions) ?? this.#threads(state, conditions);
      byConditions.set(conditions, current);
      return this.#step(current, symbol);
    });
  }

  /** The number of byte ranges and other instructions that the engine examines to build one transition of the state. */
  work(state: State): number {
    let work = 1;
    for (const id of state.ids) {
      const instruction = this.#program.instructions[id];
      work += instruction?.kind === 'bytes' ? instruction.edges.length / 3 : 1;
    }
    return work;
  }

  /** Adds an instruction, and those reachable from it without reading a byte, in order of preference. */
  #enqueue(first: number, conditions: number): void {
    const stack = this.#stack;
    stack.push(first);
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (this.#marks[id] === this.#mark) continue;
      this.#marks[id] = this.#mark;
      this.visits += 1;
      const instruction = this.#program.instructions[id];
      if (instruction === undefined) continue;
      if (instruction.kind === 'split') {
        for (let at = instruction.targets.length - 1; at >= 0; at -= 1) stack.push(instruction.targets[at] ?? 0);
        continue;
      }
      this.#queue.push(id);
      if (instruction.kind === 'condition' && (instruction.needs & ~conditions) === 0) stack.push(instruction.target);
    }
  }

  #restart(): number[] {
    const before = this.#queue;
    this.#queue = [];
    this.#mark += 1;
    return before;
  }

  #finish(flags: number): State {
    let ids = this.#restart();
    if (this.#kind === 'first') {
      const match = ids.indexOf(0);
      if (match >= 0) ids = ids.slice(0, match + 1);
    } else {
      sortAscending(ids);
    }
    const waiting = ids.some((id) => this.#program.instructions[id]?.kind === 'condition');
    return { ids, flags: waiting ? flags : flags & FLAG_MATCH };
  }

  /** For each byte class, the targets of the instruction's byte ranges. */
  #targetsOf(id: number): readonly (readonly number[])[] {
    const known = this.#targets[id];
    if (known !== undefined) return known;
    const instruction = this.#program.instructions[id];
    const edges = instruction?.kind === 'bytes' ? instruction.edges : [];
    const own = Array.from(this.#samples, (byte) => {
      const found: number[] = [];
      for (let at = 0; at < edges.length; at += 3) {
        if (byte >= (edges[at] ?? 0) && byte <= (edges[at + 1] ?? 0)) found.push(edges[at + 2] ?? 0);
      }
      return found;
    });
    this.visits += (edges.length * this.#samples.length) / 12;
    this.#targets[id] = own;
    return own;
  }

  /** The threads of a state once the conditions before the next byte are known. */
  #threads(state: State, conditions: number): readonly number[] {
    this.#restart();
    for (const id of state.ids) this.#enqueue(id, conditions);
    return this.#restart();
  }

  #step(current: readonly number[], symbol: number): State {
    this.#restart();
    const byte = this.#samples[symbol] ?? 0;
    const after = byte === 0x0a ? CONDITION.lineStart : 0;
    let flags = after | (isWordByte(byte) ? FLAG_LAST_WORD : 0);
    for (const id of current) {
      this.visits += 1;
      if (id === 0) {
        flags |= FLAG_MATCH;
        if (this.#kind === 'first') break;
      } else {
        for (const target of this.#targetsOf(id)[symbol] ?? []) this.#enqueue(target, after);
      }
    }
    return this.#finish(flags);
  }
}

/**
 * Sorts in place. Most lists hold a few numbers, for which insertion sort is many times faster than the built-in sort.
 */
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
