import type { Rate } from './rate-limit.ts';

/** The rules of a key, from its line in the file of client keys. */
export type KeyRules = {
  /** A name for people; absent if the line has none. */
  readonly name?: string;
  /** The models that the key may call; absent if it may call all models. */
  readonly aliases?: ReadonlySet<string>;
  readonly rate?: Rate;
  /** Tokens that the client may use in a day, for metrics and alerts; no request is refused for it. */
  readonly dailyTokens?: number;
};

/** `empty`: the line has no key. A problem names no content of the line. */
type KeyLine =
  | { readonly kind: 'key'; readonly key: string; readonly rules: KeyRules }
  | { readonly kind: 'empty' }
  | { readonly kind: 'problem'; readonly problem: string };

/** Characters of a name that are kept. */
const maxNameLength = 64;
const periods: Readonly<Record<string, number>> = { second: 1_000, minute: 60_000, hour: 3_600_000 };
const maxRate = 1_000_000;
const maxTokens = 1_000_000_000_000;

/**
 * Reads one line of the file of client keys: the key, then words of a name and rules in any order. A word with `=` is a
 * rule: `aliases=a,b`, `rate=60/minute`, `daily-tokens=1000000`. Another word with `=` is reported as a problem, so
 * that a misspelt rule never leaves a key without its limit.
 */
export function readKeyLine(line: string): KeyLine {
  const [key = '', ...words] = line.trim().split(/\s+/);
  if (key === '') return { kind: 'empty' };
  const name = words
    .filter((word) => !word.includes('='))
    .join(' ')
    .slice(0, maxNameLength);
  let rules: KeyRules = name === '' ? {} : { name };
  const seen = new Set<string>();
  for (const word of words) {
    const [rule = '', ...rest] = word.split('=');
    if (rest.length === 0) continue;
    if (seen.has(rule)) return { kind: 'problem', problem: 'a rule is given twice' };
    seen.add(rule);
    const read = readRule(rule, rest.join('='));
    if (typeof read === 'string') return { kind: 'problem', problem: read };
    rules = { ...rules, ...read };
  }
  return { kind: 'key', key, rules };
}

function readRule(rule: string, value: string): KeyRules | string {
  switch (rule) {
    case 'aliases': {
      const aliases = value.split(',').filter((alias) => alias !== '');
      return aliases.length === 0 ? 'aliases= names no model: write aliases=a,b' : { aliases: new Set(aliases) };
    }
    case 'rate': {
      const [, count = '', period = ''] = /^(\d{1,7})\/([a-z]+)$/.exec(value) ?? [];
      const requests = Number(count);
      const ms = Object.hasOwn(periods, period) ? periods[period] : undefined;
      if (ms === undefined || requests < 1 || requests > maxRate) {
        return `rate= is not a number from 1 to ${maxRate} and a period: write rate=60/minute, /second or /hour`;
      }
      return { rate: { requests, ms } };
    }
    case 'daily-tokens': {
      const dailyTokens = /^\d{1,13}$/.test(value) ? Number(value) : 0;
      return dailyTokens < 1 || dailyTokens > maxTokens
        ? `daily-tokens= is not a whole number from 1 to ${maxTokens}`
        : { dailyTokens };
    }
    default:
      return 'a word with = is no rule: the rules are aliases=, rate= and daily-tokens=';
  }
}
