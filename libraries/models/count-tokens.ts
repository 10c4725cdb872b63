import { countTokens as countEncoded } from 'gpt-tokenizer/encoding/o200k_base';

/** Longest run without a change between white space and other characters that is encoded at once: its cost is quadratic. */
const longestRun = 256;

/** Tokens of a text in the encoding o200k_base. A longer run is cut first, which can count a few tokens more. */
export function countTokens(text: string): number {
  let tokens = 0;
  let from = 0;
  for (const { 0: run, index } of text.matchAll(longRuns)) {
    for (let at = index + longestRun; at < index + run.length; at += longestRun) {
      tokens += countEncoded(text.slice(from, at), plain);
      from = at;
    }
  }
  return tokens + countEncoded(text.slice(from), plain);
}

const longRuns = new RegExp(`\\S{${longestRun + 1},}|\\s{${longestRun + 1},}`, 'g');

/** Texts that look like control tokens of a model are ordinary text. */
const plain = { disallowedSpecial: new Set<string>() };
