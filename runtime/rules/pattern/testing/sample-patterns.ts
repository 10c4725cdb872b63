import fc from 'fast-check';
import { matchableText, patternText } from './pattern-arbitrary.ts';

// Writes patterns and texts for record-google-re2.py, one JSON object per line.
const SEED = 20251105;
const COUNT = 600;
const TEXTS = 4;

const patterns = fc.sample(patternText, { numRuns: COUNT * 3, seed: SEED });
const texts = fc.sample(matchableText, { numRuns: COUNT * TEXTS, seed: SEED });
const distinct = [...new Set(patterns)].slice(0, COUNT);
for (const [index, pattern] of distinct.entries()) {
  const own = texts.slice(index * TEXTS, (index + 1) * TEXTS);
  process.stdout.write(`${JSON.stringify({ pattern, caseSensitive: index % 3 !== 0, texts: own })}\n`);
}
