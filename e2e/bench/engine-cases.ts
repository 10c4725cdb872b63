import { createBenchJudge } from './judge.ts';
import { benchBundle, denyMark, expressionsOf, maskMark, type Rules, termsOf } from './policies.ts';
import { type ProseScript, proseBody, proseOf, requestBody } from './texts.ts';

/** A measured function; its result must contain `expects`, so that no other work is measured by mistake. */
export type Case = {
  readonly group: string;
  readonly name: string;
  readonly body: Buffer;
  readonly work: (body: Buffer) => string | Promise<string>;
  readonly expects: string;
  /** Upper limit of the ratio to the baseline; absent without a limit. */
  readonly bound?: number;
  /** Baseline that the time is divided by; absent: JSON.parse of the same body. */
  readonly baseline?: (body: Buffer) => string | Promise<string>;
};

const kib = 1_024;
const most = 131_072;

/** Compiled judges, shared between cases with equal rules. */
const judges = new Map<string, ReturnType<typeof createBenchJudge>>();

function judgeOf(rules: Rules): ReturnType<typeof createBenchJudge> {
  const key = JSON.stringify(rules);
  const known = judges.get(key);
  if (known !== undefined) return known;
  const made = createBenchJudge(benchBundle(rules));
  judges.set(key, made);
  return made;
}

function check(group: string, name: string, rules: Rules, body: Buffer, more: Partial<Case> = {}): Case {
  return { group, name, body, work: judgeOf({ maxBodyBytes: most, ...rules }), expects: 'policy_pass', ...more };
}

const usual = { patterns: 8, terms: 1_000 } as const;

function byRules(): readonly Case[] {
  const body = proseBody('latin', 2 * kib);
  const group = 'by number of patterns (2 KiB Latin, no terms)';
  return [1, 8, 64].map((patterns) => check(group, `${patterns} patterns`, { patterns, terms: 0 }, body));
}

function byTerms(): readonly Case[] {
  const body = proseBody('latin', 2 * kib);
  return (['token', 'substring'] as const).flatMap((match) =>
    [100, 1_000, 5_000].map((terms) =>
      check('by number of terms (2 KiB Latin)', `${terms} as ${match}`, { patterns: 0, terms, match }, body),
    ),
  );
}

function bySize(): readonly Case[] {
  const group = 'by size of the body (8 patterns, 1,000 terms)';
  return (['latin', 'cyrillic', 'log'] as const).flatMap((script) =>
    [2, 32, 128].map((size) => check(group, `${size} KiB ${script}`, usual, proseBody(script, size * kib))),
  );
}

function byOutcome(): readonly Case[] {
  const group = 'by outcome (2 KiB Latin, 8 patterns, 1,000 terms)';
  return [
    check(group, 'pass', usual, proseBody('latin', 2 * kib)),
    check(group, 'mask', usual, proseBody('latin', 2 * kib, maskMark), { expects: 'content_redacted' }),
    check(group, 'deny', usual, proseBody('latin', 2 * kib, denyMark), { expects: 'policy_denied' }),
  ];
}

function windows(): readonly Case[] {
  const group = 'windows of a stream (8 patterns, 1,000 terms)';
  return (['latin', 'cyrillic'] as const).map((script) =>
    check(group, `1,024 bytes ${script}`, usual, requestBody(proseOf(script, kib))),
  );
}

/** 64 rules on the largest body, compared with JSON.parse of that body. */
function longest(): readonly Case[] {
  const bounds: readonly [ProseScript, Partial<Case>][] = [
    ['latin', { bound: 16 }],
    ['cyrillic', { bound: 8 }],
    ['log', {}],
  ];
  return bounds.map(([script, more]) =>
    check('64 rules on 128 KiB', script, { patterns: 63, terms: 1_000 }, proseBody(script, 128 * kib), more),
  );
}

/** 5,000 terms compared with 100 terms on the same text. */
function manyTerms(): readonly Case[] {
  const texts = [
    { name: 'prose', body: proseBody('latin', 32 * kib), bound: 1.15, expects: 'policy_pass' },
    { name: 'near misses', body: repeated(nearMisses), bound: 4, expects: 'policy_pass' },
    { name: 'all hits', body: repeated(termsOf(100).join(' ')), bound: 4, expects: 'policy_denied' },
  ];
  return (['token', 'substring'] as const).flatMap((match) =>
    texts
      .filter(({ name }) => match === 'token' || name !== 'near misses')
      .map(({ name, ...text }) =>
        check(
          '5,000 terms against 100 (32 KiB)',
          `${name}, ${match}`,
          { patterns: 0, terms: 5_000, match },
          text.body,
          {
            ...text,
            baseline: judgeOf({ maxBodyBytes: most, patterns: 0, terms: 100, match }),
          },
        ),
      ),
  );
}

/** Terms without their last letter: each is a prefix of a term but no term. */
const nearMisses = termsOf(100)
  .map((term) => term.slice(0, -1))
  .join(' ');

function repeated(words: string): Buffer {
  return requestBody(`${words} `.repeat(Math.floor((32 * kib - 100) / (words.length + 1))));
}

/** The naive alternative to the engine: the same patterns one after another, and all terms as one alternation. */
function alternatives(): readonly Case[] {
  const group = 'alternatives (32 KiB, same rules, text read by JSON.parse)';
  const loop = expressionsOf(8).map(({ pattern, caseSensitive }) => new RegExp(pattern, caseSensitive ? 'u' : 'iu'));
  const alternation = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${termsOf(1_000).join('|')})(?![\\p{L}\\p{N}_])`, 'iu');
  const textOf = (body: Buffer): string => JSON.parse(body.toString('utf8')).body.messages[0].content as string;
  const verdict = (hit: boolean): string => (hit ? 'policy_denied' : 'policy_pass');
  return (['latin', 'cyrillic', 'log'] as const).flatMap((script) => {
    const body = proseBody(script, 32 * kib);
    const tests = (...expressions: RegExp[]) => ({
      work: (bytes: Buffer) => verdict(expressions.some((expression) => expression.test(textOf(bytes)))),
    });
    return [
      check(group, `${script}: this engine, 8 patterns`, { patterns: 8, terms: 0 }, body),
      check(group, `${script}: RegExp loop, 8 patterns`, { patterns: 8, terms: 0 }, body, tests(...loop)),
      check(group, `${script}: this engine, 1,000 terms`, { patterns: 0, terms: 1_000 }, body),
      check(group, `${script}: one alternation, 1,000 terms`, { patterns: 0, terms: 1_000 }, body, tests(alternation)),
    ];
  });
}

export function engineCases(): readonly Case[] {
  return [
    ...byRules(),
    ...byTerms(),
    ...bySize(),
    ...byOutcome(),
    ...windows(),
    ...longest(),
    ...manyTerms(),
    ...alternatives(),
  ];
}
