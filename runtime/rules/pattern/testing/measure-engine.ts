import { compileTokens } from '../../terms/compile-tokens.ts';
import { coverTransitions } from '../cost/cover-transitions.ts';
import { nextPlace } from '../cost/probe-plan.ts';
import { compilePattern } from '../search/compile-pattern.ts';
import { openPattern, openSet } from '../search/engine.ts';

// Measures the figures of cost/engine-figures.ts: sh hack/run runtime/rules/pattern/testing/measure-engine.ts
const SIZE = 131_072;
const ROUNDS = 25;

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

function textOf(parts: readonly string[], seed = 1): Buffer {
  const next = random(seed);
  let text = '';
  while (text.length < SIZE) text += parts[Math.floor(next() * parts.length)] ?? '';
  return Buffer.from(text).subarray(0, SIZE);
}

/** Median and slowest nanoseconds for each of `count` units of the work. */
function report(name: string, count: number, work: (round: number) => void): void {
  const figures: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = process.hrtime.bigint();
    work(round);
    figures.push(Number(process.hrtime.bigint() - start) / count);
  }
  figures.sort((a, b) => a - b);
  const [median, slowest] = [figures[ROUNDS >> 1] ?? 0, figures.at(-1) ?? 0];
  process.stdout.write(`${name.padEnd(44)} median ${median.toFixed(2)} ns, slowest ${slowest.toFixed(2)} ns\n`);
}

function prepare(pattern: string) {
  const compiled = compilePattern({ pattern, caseSensitive: true });
  if ('reason' in compiled) throw new Error(compiled.reason);
  return compiled;
}

const bytesOfKey = textOf(['A', 'K', 'I', '0', '9', 'Z', 'AKIA']);
for (const [name, pattern, text] of [
  ['step, 13 states', '[a-z0-9._-]+@[a-z0-9.-]+\\.[a-z]{2,}', textOf(['a', '@', '.', ' ', 'b7'])],
  ['step, 3600 states', 'AKIA[0-9A-Z]{16}', bytesOfKey],
  [
    'step, 4100 states',
    '\\+?7[ -]?\\(?\\d{3}\\)?[ -]?\\d{3}[ -]?\\d{2}[ -]?\\d{2}',
    textOf(['7', '1', ' ', '-', '+7', '(']),
  ],
] as const) {
  const compiled = prepare(pattern);
  compiled.test(text);
  report(name, SIZE, () => compiled.test(text));
}

for (const pattern of [
  'AKIA[0-9A-Z]{16}',
  '\\b[A-Z]{2}\\d{2} ?(?:[A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}\\b',
  'ignore.{0,4}s',
]) {
  const automaton = prepare(pattern).analysis.firing.set();
  if (automaton === undefined) throw new Error('too large');
  const transitions = automaton.states * automaton.classCount;
  const mean = automaton.work.reduce((sum, work) => sum + work, 0) / automaton.states;
  report(`build and its texts, ${transitions} transitions of ${mean.toFixed(0)} ranges`, transitions, () => {
    const set = openSet([pattern]);
    if ('refused' in set) throw new Error(set.refused);
    coverTransitions(automaton, (text) => set.firing(text));
  });
}

for (const [pattern, part, count] of [
  ['\\b(?:\\d[ -]?){13,19}\\b', ['1 ', '2-', '3 4-5', '123456789'], 16_384],
  ['ignore.{0,60}system7', ['ignore'], 5_461],
  ['ignore.{0,60}system7', ['ignoreя', 'ignore€', 'ignore😀'], 4_096],
] as const) {
  const { engine } = prepare(pattern);
  const text = textOf(part).subarray(0, 32_768);
  const step = Math.floor(32_768 / count);
  report(`probe of ${pattern}, each ${step} bytes`, count, () => {
    for (let at = 0; at < 32_768; at += step) engine.matchAt(text, at);
  });
}

const scanned = prepare('ignore.{0,60}system7').analysis.firing.probe();
if (scanned === undefined) throw new Error('no plan');
for (const parts of [
  ['the ', 'quick ', 'text '],
  ['i', 'ig', 'ignor'],
]) {
  const text = textOf(parts);
  report(`scan for places in ${parts.join('|')}`, SIZE, () => nextPlace(scanned, text, 0));
}

const engine = openPattern('[0-9]{3}', true);
if ('refused' in engine) throw new Error(engine.refused);
const digits = textOf(['123 ']);
report('find call', 1_000, () => {
  for (let at = 0, count = 0; count < 1_000; count += 1) at = engine.find(digits, at)?.end ?? 0;
});

const words = Array.from({ length: 5_000 }, (_, index) => `слово${index.toString(36)}`);
const tokens = compileTokens({ terms: words, caseSensitive: false });
const dense = textOf(words.slice(0, 50));
report('token list, all hits', SIZE, () => tokens.matches(dense, 1e9));
