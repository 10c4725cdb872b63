/**
 * An Aho-Corasick automaton over symbols (small positive integers; 0 is "in no sequence"). It reads a text from the end
 * to the beginning, so that the state after a symbol identifies the longest sequence that begins there: each symbol
 * needs one lookup, whatever the text is, and one pass finds the leftmost-longest matches.
 */
type SequenceAutomaton = {
  /** The next state of the root, for each symbol. */
  readonly fromRoot: Int32Array;
  /** Hash table (open addressing) of the other transitions: from (state, symbol) to state. */
  readonly edgeState: Int32Array;
  readonly edgeSymbol: Int32Array;
  readonly edgeTarget: Int32Array;
  readonly fail: Int32Array;
  /** For each state, the number of symbols of the longest sequence that begins there; 0 for none. */
  readonly longest: Int32Array;
};

/**
 * Sequences one after another: sequence i is `symbols[starts[i]]` up to `symbols[starts[i + 1]]`; no sequence is empty.
 */
export type Sequences = { readonly symbols: Int32Array; readonly starts: Int32Array; readonly symbolCount: number };

/**
 * Builds the automaton; memory is 20 to 44 bytes for each distinct suffix of the sequences. Time is linear in the symbols.
 */
export function buildAutomaton({ symbols, starts, symbolCount }: Sequences): SequenceAutomaton {
  let capacity = 16;
  while (capacity < 2 * symbols.length) capacity *= 2;
  const edges = {
    edgeState: new Int32Array(capacity),
    edgeSymbol: new Int32Array(capacity),
    edgeTarget: new Int32Array(capacity),
  };
  const fromRoot = new Int32Array(symbolCount + 1);
  const parent = new Int32Array(symbols.length + 1);
  const entered = new Int32Array(symbols.length + 1);
  const ends = new Int32Array(symbols.length + 1);
  let states = 1;
  for (let sequence = 0; sequence + 1 < starts.length; sequence += 1) {
    const begin = starts[sequence] ?? 0;
    const end = starts[sequence + 1] ?? 0;
    let state = 0;
    for (let at = end - 1; at >= begin; at -= 1) {
      const symbol = symbols[at] ?? 0;
      let next = state === 0 ? (fromRoot[symbol] ?? 0) : lookUp(edges, state, symbol);
      if (next === 0) {
        next = states;
        states += 1;
        parent[next] = state;
        entered[next] = symbol;
        if (state === 0) fromRoot[symbol] = next;
        else insert(edges, state, symbol, next);
      }
      state = next;
    }
    ends[state] = end - begin;
  }
  const trie = { ...edges, fromRoot, parent: parent.subarray(0, states), entered, ends };
  return { ...edges, fromRoot, ...links(trie, states) };
}

/** The state after one more symbol, reading from the end of the text to its beginning. */
export function advance(automaton: SequenceAutomaton, from: number, symbol: number): number {
  const { fromRoot, fail } = automaton;
  if (symbol === 0) return 0;
  for (let state = from; state !== 0; state = fail[state] ?? 0) {
    const next = lookUp(automaton, state, symbol);
    if (next !== 0) return next;
  }
  return fromRoot[symbol] ?? 0;
}

type Edges = Pick<SequenceAutomaton, 'edgeState' | 'edgeSymbol' | 'edgeTarget'>;
type Trie = Edges & {
  readonly fromRoot: Int32Array;
  readonly parent: Int32Array;
  readonly entered: Int32Array;
  readonly ends: Int32Array;
};

/** Fail links and longest sequences, shorter paths first: a fail link always points to a shorter path. */
function links(trie: Trie, states: number): { fail: Int32Array; longest: Int32Array } {
  const fail = new Int32Array(states);
  const longest = new Int32Array(states);
  const { fromRoot, parent, entered, ends } = trie;
  for (const state of byDepth(parent)) {
    const symbol = entered[state] ?? 0;
    const above = parent[state] ?? 0;
    let link = 0;
    if (above !== 0) {
      let back = fail[above] ?? 0;
      while (back !== 0 && link === 0) {
        link = lookUp(trie, back, symbol);
        back = fail[back] ?? 0;
      }
      if (link === 0) link = fromRoot[symbol] ?? 0;
    }
    fail[state] = link;
    longest[state] = ends[state] || (longest[link] ?? 0);
  }
  return { fail, longest };
}

/** All states except the root, in order of their distance from it (a parent always has the smaller number). */
function byDepth(parent: Int32Array): Int32Array {
  const depth = new Int32Array(parent.length);
  const counts = new Int32Array(parent.length + 1);
  for (let state = 1; state < parent.length; state += 1) {
    const own = (depth[parent[state] ?? 0] ?? 0) + 1;
    depth[state] = own;
    counts[own] = (counts[own] ?? 0) + 1;
  }
  const positions = new Int32Array(parent.length + 1);
  for (let at = 1; at < positions.length; at += 1) positions[at] = (positions[at - 1] ?? 0) + (counts[at - 1] ?? 0);
  const ordered = new Int32Array(parent.length - 1);
  for (let state = 1; state < parent.length; state += 1) {
    const own = depth[state] ?? 0;
    const position = positions[own] ?? 0;
    ordered[position] = state;
    positions[own] = position + 1;
  }
  return ordered;
}

function slotOf(state: number, symbol: number, mask: number): number {
  const mixed = Math.imul(state, 0x9e3779b1) ^ Math.imul(symbol, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) & mask;
}

function lookUp(edges: Edges, state: number, symbol: number): number {
  const { edgeState, edgeSymbol, edgeTarget } = edges;
  const mask = edgeState.length - 1;
  for (let slot = slotOf(state, symbol, mask); ; slot = (slot + 1) & mask) {
    const owner = edgeState[slot];
    if (owner === 0) return 0;
    if (owner === state && edgeSymbol[slot] === symbol) return edgeTarget[slot] ?? 0;
  }
}

function insert(edges: Edges, state: number, symbol: number, target: number): void {
  const { edgeState, edgeSymbol, edgeTarget } = edges;
  const mask = edgeState.length - 1;
  let slot = slotOf(state, symbol, mask);
  while (edgeState[slot] !== 0) slot = (slot + 1) & mask;
  edgeState[slot] = state;
  edgeSymbol[slot] = symbol;
  edgeTarget[slot] = target;
}
