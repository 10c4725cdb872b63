import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CheckOutcome, failedCheck, isCheckErrorCode } from '../../libraries/checks/check-outcome.ts';
import { judgeTexts } from '../../libraries/checks/guard/judge-texts.ts';
import type { BaselineRule } from '../../libraries/contracts/policy.ts';
import { compileBundle } from '../../runtime/bundle/compile-bundle.ts';
import { judgeDivision } from '../../runtime/bundle/division.ts';
import type { LoadedBundle } from '../../runtime/bundle/loaded-bundle.ts';
import { parseBundle } from '../../runtime/bundle/parse-bundle.ts';
import { runTextCheck } from '../../runtime/judgement/run-text-check.ts';
import { bundleOf, masking, regex, stopList } from '../../runtime/testing/build-bundle.ts';

/**
 * Documents that are judged in overlapping pieces by the rules of the runtime, against the same rules on the whole
 * text. The words are few and the texts dense with matches, so that most pieces end next to or inside a match.
 */
const pieceBytes = 8_192;
const wholeBytes = 131_072;

/**
 * Loads a bundle with the rules; undefined for rules that no bundle may have, or by which documents are not judged in
 * pieces.
 */
function loadIfAllowed(rules: readonly BaselineRule[], maxBodyBytes: number): LoadedBundle | undefined {
  const found = bundleOf(rules);
  const bundle = { ...found, limits: { ...found.limits, maxBodyBytes, maxMatches: 1_024 } };
  const parsed = parseBundle(Buffer.from(JSON.stringify(bundle)));
  if (!parsed.ok || judgeDivision(bundle)[0]?.allowed !== true) return undefined;
  const compiled = compileBundle(parsed, () => async () => ({ kind: 'allow' }));
  return compiled.ok ? compiled.loaded : undefined;
}

function load(rules: readonly BaselineRule[], maxBodyBytes: number): LoadedBundle {
  const loaded = loadIfAllowed(rules, maxBodyBytes);
  if (loaded === undefined) throw new Error(`the rules are not allowed: ${JSON.stringify(rules)}`);
  return loaded;
}

async function ask(loaded: LoadedBundle, contents: readonly string[]): Promise<CheckOutcome> {
  const messages = contents.map((content) => ({ role: 'user', content }));
  const check = { name: 'n', policyId: 'policy-a', stage: 'request' as const, messages };
  const {
    decision,
    contents: masked = [],
    code,
  } = await runTextCheck(loaded, check, { asksProviders: false, marks: false });
  if (decision === 'Pass') return { kind: 'pass' };
  if (decision === 'Reject') return { kind: 'deny' };
  if (decision === 'Mask') return { kind: 'mask', contents: masked };
  return failedCheck(code !== undefined && isCheckErrorCode(code) ? code : 'internal');
}

const mask = (pattern: string, replacement: string): BaselineRule => masking(regex('m', pattern), replacement);
const policies: readonly (readonly BaselineRule[])[] = [
  [mask('[0-9]{4}', '*')],
  [mask('[0-9]{3} [0-9]{2}', '')],
  [mask('\\b[a-z]+@[a-z]+\\b', '[email]')],
  [mask('(?:aa |b ){1,40}', '#')],
  [mask('[^ \\t\\n\\f\\r@]+@[^ \\t\\n\\f\\r]+', '@@')],
  [masking(stopList('t', ['aa b', 'b aa', 'жук'], { match: 'token' }), '**')],
  [mask('12 (?:34 )?', '12 '), { ...regex('d', 'zq{1,200}z') }],
];
const loadedPolicies = policies.map((rules) => ({ whole: load(rules, wholeBytes), pieces: load(rules, pieceBytes) }));

const word = fc.constantFrom('aa', 'b', '12', '34', '1234', 'a@b', 'c@', 'жук', 'Жука', '\\', '"', 'x'.repeat(40));
const gap = fc.constantFrom(' ', ' ', '\n', '  ', ' \t');
const longText = fc
  .array(fc.tuple(word, gap, fc.integer({ min: 1, max: 12 })), { minLength: 200, maxLength: 700 })
  .map((parts) => parts.map(([each, space, times]) => (each + space).repeat(times)).join(''))
  .filter((text) => Buffer.byteLength(JSON.stringify(text)) < wholeBytes - 1_000);
const filler = fc.constantFrom('plain text without a match, ', 'ordinary words and more of them; ');
const sparse = fc
  .tuple(longText, filler)
  .map(([text, plain]) => plain.repeat(400) + text.slice(0, 3_000) + plain.repeat(300));

/** Judges the text in pieces and as a whole. @returns whether it could be judged in pieces; false for a refusal */
async function compare(whole: LoadedBundle, pieces: LoadedBundle, text: string): Promise<boolean> {
  // The short texts next to it are judged, too, and a rule may match them.
  const texts = ['—', text, '—'];
  const expected = await ask(whole, texts);
  fc.pre(expected.kind !== 'failed');
  const bounds = { maxMessages: 4, maxBodyBytes: pieceBytes };
  const judged = await judgeTexts((contents) => ask(pieces, contents), texts, bounds);
  if (judged.kind === 'indivisible' || judged.kind === 'failed') return false;
  if (expected.kind === 'deny') expect(judged).toEqual({ kind: 'denied' });
  else expect(judged).toEqual({ kind: 'passed', texts: expected.kind === 'mask' ? expected.contents : texts });
  return true;
}

const atom = fc.constantFrom(
  'a',
  'b',
  ' ',
  '[0-9]',
  '[a-z]',
  '[^ ]',
  'ж',
  '(?:aa |1)',
  '\\b',
  '@',
  '(?:b|12 )',
  '[\\t\\n ]',
);
const count = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 40 }));
const part = fc.tuple(atom, fc.option(fc.oneof(count, fc.constant('+' as const)))).map(([each, times]) => {
  if (times === null || each === '\\b') return each;
  return times === '+' ? `${each}+` : `${each}{${times[0]},${times[0] + times[1]}}`;
});
const pattern = fc
  .array(fc.array(part, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 2 })
  .map((branches) => branches.map((parts) => parts.join('')).join('|'));
const rule = fc
  .tuple(pattern, fc.option(fc.constantFrom('', '*', '[x]', '1')))
  .map(([each, replacement]) => (replacement === null ? regex('d', each) : mask(each, replacement)));

test.each(
  loadedPolicies.map((loaded, index) => [JSON.stringify(policies[index]?.map(({ id }) => id)), index, loaded] as const),
)(
  'the masks of the pieces of a text equal those of the complete text, with the rules %s of policy %i',
  async (_, __, { whole, pieces }) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(longText, sparse), async (text) => {
        expect(await compare(whole, pieces, text)).toBe(true);
      }),
      { numRuns: 60, endOnFailure: true },
    );
  },
);

test('the masks of the pieces of a text equal those of the complete text, with random patterns', async () => {
  let judged = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(rule, fc.oneof(longText, sparse), async (given, text) => {
      const pieces = loadIfAllowed([given], pieceBytes);
      const whole = pieces === undefined ? undefined : loadIfAllowed([given], wholeBytes);
      fc.pre(pieces !== undefined && whole !== undefined);
      if (await compare(whole, pieces, text)) judged += 1;
      else refused += 1;
    }),
    { numRuns: 60, endOnFailure: true, maxSkipsPerRun: 1_000 },
  );
  expect(judged).toBeGreaterThan(refused);
});

test('a denied phrase is found at any position in a long text', async () => {
  const { pieces } = loadedPolicies[6] ?? { pieces: undefined };
  if (pieces === undefined) throw new Error('the policy is missing');
  const phrase = `z${'q'.repeat(200)}z`;
  for (let at = 0; at < 20_000; at += 997) {
    const text = `${'ab '.repeat(7_000).slice(0, at)} ${phrase} ${'cd '.repeat(5_000)}`;
    const judged = await judgeTexts((contents) => ask(pieces, contents), [text], {
      maxMessages: 4,
      maxBodyBytes: pieceBytes,
    });
    expect(judged, String(at)).toEqual({ kind: 'denied' });
  }
});
