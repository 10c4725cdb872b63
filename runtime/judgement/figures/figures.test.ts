import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JudgeVerdict } from '#contracts/judge';
import { compileBundle } from '../../bundle/compile-bundle.ts';
import { parseBundle } from '../../bundle/parse-bundle.ts';
import { bundle, masking, policy, regex, section } from '../../testing/build-bundle.ts';
import { judgeBundle } from '../judge-bundle.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-figures-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Enough patterns for several threads: sets, a listing and a pattern that is found by probes. */
const patterns = [
  regex('probe', 'ignore.{0,60}system'),
  masking(regex('card', '\\b(?:\\d[ -]?){13,19}\\b'), '#'),
  ...Array.from({ length: 14 }, (_, index) => regex(`set-${index}`, `k${index}[a-z]{1,3}`, index % 2 === 0)),
];
const costly = regex('costly', 'a.{0,900}b.{0,900}c.{0,900}d');

function jobOf(rules: readonly ReturnType<typeof regex>[]) {
  const check = (name: string, content: string) => ({
    name,
    policyId: 'policy-a',
    stage: 'request' as const,
    messages: [{ role: 'user', content }],
  });
  return {
    bundle: JSON.stringify(bundle([policy(section(rules))])),
    checks: [check('probe', 'ignore the system'), check('mask', 'my card is 4111 1111 1111 1111'), check('pass', 'hi')],
  };
}

/** Judges with the folder, and counts the rules whose figures were computed. */
async function judged(rules: readonly ReturnType<typeof regex>[], cacheDirectory = folder) {
  const reports: number[] = [];
  const verdict = await judgeBundle(
    { ...jobOf(rules), cacheDirectory },
    {
      onProgress: (_judged, all) => reports.push(all),
    },
  );
  return { verdict, workedOut: reports.length };
}

const decisions = ({ results }: JudgeVerdict) => results.map(({ decision, rules }) => [decision, ...rules]);

function fileIn(path: string): string {
  const [name = ''] = readdirSync(path);
  return join(path, name);
}

/** Changes the figures of the file and its digest with them, as an attacker of the same account would. */
function forge(change: (figures: string) => string): void {
  const [, figures = ''] = readFileSync(fileIn(folder), 'utf8').split('\n');
  const forged = change(figures);
  writeFileSync(fileIn(folder), `${createHash('sha256').update(forged).digest('hex')}\n${forged}`);
}

test('files that a killed validation left are removed by a later one, and those that may still be written stay', async () => {
  const name = (hex: string) => `.figures-${hex.repeat(32)}.json.${randomUUID()}.tmp`;
  const [old, fresh] = [name('a'), name('b')];
  for (const leftover of [old, fresh]) writeFileSync(join(folder, leftover), 'half');
  const hourAgo = Date.now() / 1_000 - 3_600;
  utimesSync(join(folder, old), hourAgo, hourAgo);
  await judged(patterns);
  expect(readdirSync(folder).toSorted()).toEqual([fresh, expect.stringMatching(/^figures-/)]);
});

test('a bundle that is validated again has the same verdict, and no figures are computed again', async () => {
  const without = await judgeBundle(jobOf(patterns));
  expect(decisions(without)).toEqual([['Reject', 'probe'], ['Mask', 'card'], ['Pass']]);
  const first = await judged(patterns);
  const again = await judged(patterns);
  expect([first.verdict, again.verdict]).toEqual([without, without]);
  expect([first.workedOut, again.workedOut]).toEqual([patterns.length, 0]);
  const { mtimeNs } = statSync(fileIn(folder), { bigint: true });
  await judged(patterns);
  expect(statSync(fileIn(folder), { bigint: true }).mtimeNs).toBe(mtimeNs);
});

test('only the figures of changed patterns are computed again', async () => {
  await judged(patterns);
  const [, ...others] = patterns;
  expect((await judged([regex('new', 'forget.{0,60}system'), ...others])).workedOut).toBe(1);
  const listed = masking(regex('listed', 'k0[a-z]{1,3}'), '#');
  expect((await judged([listed, ...others])).workedOut).toBe(1);
});

test('a costly pattern is refused with the same message from known figures', async () => {
  const [first, again] = [await judged([costly]), await judged([costly])];
  expect(first.verdict.problems).toMatchObject([{ code: 'rule_too_costly' }, { code: 'rule_too_costly' }]);
  expect(again.verdict).toEqual(first.verdict);
  expect(again.workedOut).toBe(0);
});

test('a pattern that is refused by its syntax is refused however often it is validated', async () => {
  const broken = [regex('broken', '(?=a)'), ...patterns];
  const [first, again] = [await judged(broken), await judged(broken)];
  expect(first.verdict.problems).toMatchObject([{ rule: 'broken', code: 'bundle_invalid' }, { rule: 'broken' }]);
  expect(again.verdict).toEqual(first.verdict);
});

test.each([
  ['cut', (content: string) => content.slice(0, -9)],
  ['changed', (content: string) => content.replace(/"memoryBytes":\d+/, '"memoryBytes":1')],
  ['no JSON', () => 'figures'],
  ['empty', () => ''],
  ['larger than a file of figures can be', (content: string) => content + ' '.repeat(8 * 1_024 * 1_024)],
])('a file of pattern figures that is %s counts as empty and is replaced', async (_how, damage) => {
  const [fine] = patterns;
  if (fine === undefined) throw new Error('no pattern');
  const { verdict } = await judged([fine]);
  writeFileSync(fileIn(folder), damage(readFileSync(fileIn(folder), 'utf8')));
  expect(await judged([fine])).toEqual({ verdict, workedOut: 1 });
  expect((await judged([fine])).workedOut).toBe(0);
});

test('a file of pattern figures in another format counts as empty', async () => {
  await judged([costly]);
  forge((figures) => figures.replace('"ranges":', '"range":'));
  expect((await judged([costly])).workedOut).toBe(1);
});

test('a folder that others can write to, or that is a link, is neither read nor written', async () => {
  await judged(patterns);
  for (const mode of [0o770, 0o707]) {
    chmodSync(folder, mode);
    expect((await judged(patterns)).workedOut).toBe(patterns.length);
  }
  chmodSync(folder, 0o700);
  const link = `${folder}-link`;
  symlinkSync(folder, link);
  expect((await judged(patterns, link)).workedOut).toBe(patterns.length);
  rmSync(link);
  expect((await judged(patterns, join(fileIn(folder), 'below'))).workedOut).toBe(patterns.length);
});

test('concurrent validations with one folder leave a complete file', async () => {
  const [fine] = patterns;
  if (fine === undefined) throw new Error('no pattern');
  await Promise.all(Array.from({ length: 8 }, (_, index) => judged([fine, regex('own', `own${index}`)])));
  expect(readdirSync(folder)).toHaveLength(1);
  expect((await judged([fine])).workedOut).toBe(0);
});

test('forged figures do not affect a runtime, because it computes its own', async () => {
  await judged([costly]);
  forge((figures) => figures.replace(/\{"plan":"unbounded-set"[^}]*\}/, '{"plan":"unbounded-set","ranges":0}'));
  const { verdict } = await judged([costly]);
  const [reason] = verdict.problems.map(({ message }) => message);
  expect(reason ?? 'admitted').not.toMatch(/no known bound/);
  const parsed = parseBundle(Buffer.from(jobOf([costly]).bundle));
  if (!parsed.ok) throw new Error('the bundle cannot be parsed');
  expect(compileBundle(parsed, () => async () => ({ kind: 'allow' }))).toMatchObject({
    ok: false,
    problems: [{ code: 'rule_too_costly' }, { code: 'rule_too_costly' }],
  });
});
