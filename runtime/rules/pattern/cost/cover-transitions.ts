import { type Automaton, START_CONTEXTS, type StartContext } from './determinize.ts';
import { utf8Step } from './utf8-validity.ts';

/** An automaton whose covering texts could be longer than this together, in bytes, is not built ahead. */
const MAX_COVER_BYTES = 12_000_000;

/**
 * Whether the engine can build the whole automaton in advance: its covering texts and its memory stay within their
 * limits.
 */
export function canBuildAhead(automaton: Automaton, memoryBytes: number): boolean {
  if (automaton.memoryBytes > memoryBytes) return false;
  let total = 0;
  for (const { depth, character } of shortestPaths(automaton)) {
    let texts = 0;
    for (let symbol = 0; symbol < automaton.classCount; symbol += 1) {
      if (byteFor(automaton, symbol, character) >= 0) texts += 1;
    }
    total += texts * (depth + 2);
  }
  return total <= MAX_COVER_BYTES;
}

/**
 * Calls `search` with texts, and places in them to begin at, that together take every transition of an automaton that a
 * text of valid UTF-8 can take: the engine then builds all its states, so that no check does that work. A text is only
 * valid during the call.
 */
export function coverTransitions(automaton: Automaton, search: (text: Buffer, from: number) => void): void {
  const { classCount, next, states } = automaton;
  const taken = new Uint8Array(states * classCount);
  const paths = shortestPaths(automaton);
  for (const place of paths) {
    const before = BYTES_BEFORE[place.context];
    let text: Buffer | undefined;
    for (let symbol = 0; symbol < classCount; symbol += 1) {
      const byte = byteFor(automaton, symbol, place.character);
      if (byte < 0 || taken[place.state * classCount + symbol] === 1) continue;
      text ??= Buffer.from([...before, ...bytesTo(paths, place), 0]);
      text[text.length - 1] = byte;
      taken[place.state * classCount + symbol] = 1;
      const further = goOn(
        automaton,
        taken,
        next[place.state * classCount + symbol] ?? -1,
        utf8Step(place.character, byte),
      );
      search(further.length === 0 ? text : Buffer.concat([text, Buffer.from(further)]), before.length);
    }
  }
}

/** The bytes before a search that begins in a context. */
const BYTES_BEFORE: Readonly<Record<StartContext, readonly number[]>> = {
  text: [],
  line: [0x0a],
  word: [0x61],
  other: [0x20],
};

/** Follows transitions that no text has used yet, as long as there are any. */
function goOn({ classCount, next, classOf }: Automaton, taken: Uint8Array, from: number, within: number): number[] {
  const bytes: number[] = [];
  let state = from;
  let character = within;
  while (state >= 0) {
    const fresh = freshByte({ classOf, classCount }, taken, state, character);
    if (fresh < 0) break;
    const edge = state * classCount + (classOf[fresh] ?? 0);
    taken[edge] = 1;
    bytes.push(fresh);
    character = utf8Step(character, fresh);
    state = next[edge] ?? -1;
  }
  return bytes;
}

type Alphabet = Pick<Automaton, 'classOf' | 'classCount'>;

function freshByte(alphabet: Alphabet, taken: Uint8Array, state: number, character: number): number {
  for (let symbol = 0; symbol < alphabet.classCount; symbol += 1) {
    if (taken[state * alphabet.classCount + symbol] === 1) continue;
    const byte = byteFor(alphabet, symbol, character);
    if (byte >= 0) return byte;
  }
  return -1;
}

const samples = new WeakMap<Uint8Array, Int16Array>();

/** A byte of the class that is valid at this position inside of a character; -1 if there is no such byte. */
function byteFor({ classOf, classCount }: Alphabet, symbol: number, character: number): number {
  let table = samples.get(classOf);
  if (table === undefined) {
    table = new Int16Array(8 * classCount).fill(-1);
    for (let within = 0; within < 8; within += 1) {
      for (let byte = 255; byte >= 0; byte -= 1) {
        if (utf8Step(within, byte) >= 0) table[within * classCount + (classOf[byte] ?? 0)] = byte;
      }
    }
    samples.set(classOf, table);
  }
  return table[character * classCount + symbol] ?? -1;
}

/**
 * An automaton state at a position inside of a character, and the previous step on a shortest path from a start state.
 */
type Place = {
  readonly state: number;
  readonly character: number;
  readonly context: StartContext;
  readonly depth: number;
  readonly before: number;
  readonly byte: number;
};

function shortestPaths(automaton: Automaton): readonly Place[] {
  const { starts, states, classCount, next } = automaton;
  const seen = new Uint8Array(states * 8);
  const places: Place[] = [];
  const add = (place: Place): void => {
    if (place.state < 0 || seen[place.state * 8 + place.character] === 1) return;
    seen[place.state * 8 + place.character] = 1;
    places.push(place);
  };
  for (const context of START_CONTEXTS) {
    add({ state: starts[context], character: 0, context, depth: 0, before: -1, byte: 0 });
  }
  for (let at = 0; at < places.length; at += 1) {
    const place = places[at];
    if (place === undefined) break;
    for (let symbol = 0; symbol < classCount; symbol += 1) {
      const byte = byteFor(automaton, symbol, place.character);
      if (byte < 0) continue;
      const state = next[place.state * classCount + symbol] ?? -1;
      add({ ...place, state, character: utf8Step(place.character, byte), depth: place.depth + 1, before: at, byte });
    }
  }
  return places;
}

function bytesTo(places: readonly Place[], place: Place): number[] {
  const bytes: number[] = [];
  for (let at: Place | undefined = place; at !== undefined && at.before >= 0; at = places[at.before])
    bytes.push(at.byte);
  return bytes.reverse();
}
