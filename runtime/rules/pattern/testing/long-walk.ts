import type { Automaton } from '../cost/determinize.ts';
import { utf8Step } from '../cost/utf8-validity.ts';

/** Pseudo-random numbers from 0 to 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

/**
 * A text of valid UTF-8 that leads through as many transitions of an automaton as a long random walk can: it prefers
 * transitions that were not used yet, and begins again about every `restart` bytes (0: only if no match is possible).
 */
export function longWalk(automaton: Automaton, size: number, restart: number, random: () => number): Buffer {
  const { classOf, classCount, next, starts, states } = automaton;
  const start = Math.max(starts.text, 0);
  const taken = new Uint8Array(states * classCount);
  const bytes: number[] = [];
  let state = start;
  let character = 0;
  for (let age = 0; bytes.length < size; age += 1) {
    const choices = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => utf8Step(character, byte) >= 0);
    const edgeOf = (byte: number) => state * classCount + (classOf[byte] ?? 0);
    const alive = state < 0 ? [] : choices.filter((byte) => (next[edgeOf(byte)] ?? -1) >= 0);
    const fresh = alive.filter((byte) => taken[edgeOf(byte)] === 0);
    const pool = fresh.length > 0 ? fresh : alive.length > 0 ? alive : choices;
    const byte = pool[Math.floor(random() * pool.length)] ?? 0;
    bytes.push(byte);
    character = utf8Step(character, byte);
    if (state >= 0) {
      taken[edgeOf(byte)] = 1;
      state = next[edgeOf(byte)] ?? -1;
    }
    const over = state < 0 || (restart > 0 && age > 2 * restart * random());
    if (over && character === 0) [state, age] = [start, 0];
  }
  return Buffer.from(bytes);
}
