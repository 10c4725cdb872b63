import { canBuildAhead } from './cover-transitions.ts';
import { type Automaton, MAX_TRANSITIONS, memoryOf } from './determinize.ts';
import { SET_MEMORY_BYTES } from './engine-memory.ts';

/**
 * Combines two automata into the automaton of a set of both patterns. Its states are pairs of states, because the
 * engine runs the threads of all members at the same time. Undefined when it would have too many states. Only for
 * automata of kind `many`.
 */
export function combine(left: Automaton, right: Automaton): Automaton | undefined {
  const classes = jointClasses(left, right);
  const numbers = new Map<number, number>();
  const pairs: [number, number][] = [];
  const numberOf = (a: number, b: number): number => {
    if (a < 0 && b < 0) return -1;
    const key = (a + 1) * (right.states + 1) + b + 1;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, pairs.length);
    pairs.push([a, b]);
    return pairs.length - 1;
  };
  const start = numberOf(left.starts.text, right.starts.text);
  const next: number[] = [];
  for (let at = 0; at < pairs.length; at += 1) {
    if (pairs.length * classes.count > MAX_TRANSITIONS.many) return undefined;
    const [a, b] = pairs[at] ?? [-1, -1];
    for (let symbol = 0; symbol < classes.count; symbol += 1) {
      next.push(numberOf(step(left, a, classes.left[symbol] ?? 0), step(right, b, classes.right[symbol] ?? 0)));
    }
  }
  const work = Int32Array.from(pairs, ([a, b]) => (left.work[a] ?? 0) + (right.work[b] ?? 0));
  const joint: Automaton = {
    classOf: classes.classOf,
    classCount: classes.count,
    states: pairs.length,
    next: Int32Array.from(next),
    matched: Uint8Array.from(pairs, ([a, b]) => (left.matched[a] ?? 0) | (right.matched[b] ?? 0)),
    work,
    memoryBytes: memoryOf(work, classes.count),
    starts: { text: start, line: -1, word: -1, other: -1 },
  };
  return canBuildAhead(joint, SET_MEMORY_BYTES / 2) ? joint : undefined;
}

function step(automaton: Automaton, state: number, symbol: number): number {
  return state < 0 ? -1 : (automaton.next[state * automaton.classCount + symbol] ?? -1);
}

type JointClasses = { classOf: Uint8Array; count: number; left: number[]; right: number[] };

function jointClasses(left: Automaton, right: Automaton): JointClasses {
  const numbers = new Map<number, number>();
  const joint: JointClasses = { classOf: new Uint8Array(256), count: 0, left: [], right: [] };
  for (let byte = 0; byte < 256; byte += 1) {
    const a = left.classOf[byte] ?? 0;
    const b = right.classOf[byte] ?? 0;
    const known = numbers.get(a * 256 + b);
    if (known === undefined) {
      numbers.set(a * 256 + b, joint.count);
      joint.left.push(a);
      joint.right.push(b);
    }
    joint.classOf[byte] = known ?? joint.count;
    joint.count = numbers.size;
  }
  return joint;
}
