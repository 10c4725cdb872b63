import RE2 from 're2';
import { firingCostMs } from '../cost/pattern-cost.ts';
import { compilePattern } from '../search/compile-pattern.ts';
import { REFUSED_PATTERNS } from '../testdata/refused-patterns.ts';

// Measures the engine's time for the refused patterns: sh hack/run runtime/rules/pattern/testing/measure-refused.ts
const SIZE = 32_768;
const TEXTS = 9;

function textOf(parts: readonly string[], seed: number): Buffer {
  let state = seed;
  let text = '';
  while (Buffer.byteLength(text) < SIZE) {
    for (let count = 0; count < 1_000; count += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      text += parts[Math.floor((state / 0x80000000) * parts.length)] ?? '';
    }
  }
  return Buffer.from(text).subarray(0, SIZE);
}

function medianMs(texts: readonly Buffer[], work: (text: Buffer) => void): string {
  const times = texts.map((text) => {
    const start = performance.now();
    work(text);
    return performance.now() - start;
  });
  return (times.sort((a, b) => a - b)[TEXTS >> 1] ?? 0).toFixed(0);
}

/** The bare engine. */
function measure(patterns: readonly string[], parts: readonly string[]): string {
  const texts = Array.from({ length: TEXTS }, (_, index) => textOf(parts, index + 1));
  const set = new RE2.Set(
    patterns.map((pattern) => Buffer.from(pattern)),
    'u',
    { maxMem: 32 << 20 },
  );
  const alone = new RE2(Buffer.from(patterns[0] ?? ''), 'u');
  return `set ${medianMs(texts, (text) => set.match(text))} ms, alone ${medianMs(texts, (text) => alone.test(text))} ms`;
}

for (const { pattern, caseSensitive, parts } of REFUSED_PATTERNS) {
  const compiled = compilePattern({ pattern, caseSensitive });
  const cost = 'reason' in compiled ? compiled.reason : firingCostMs([compiled.analysis], SIZE).toFixed(0);
  process.stdout.write(`${pattern.padEnd(34)} ${measure([pattern], parts)}, cost ${cost}\n`);
}
const gaps = Array.from({ length: 40 }, (_, index) => `ignore.{0,60}system${index}x`);
process.stdout.write(`forty gap rules in one set: ${measure(gaps, ['ignore', 'a', 'bc', 'def'])}\n`);
