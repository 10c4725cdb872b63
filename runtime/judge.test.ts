import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Bundle, defaultBundleLimits } from '#contracts/bundle';
import { canonicalBytes, digestOf } from '#contracts/canonical';
import { type JudgeJob, type JudgeVerdict, judgeVerdictSchema } from '#contracts/judge';
import { answers, startScriptedHttp } from '#kit/testing/scripted-http';
import {
  bundleOf,
  classifier,
  detector,
  enforced,
  masking,
  observed,
  providersAt,
  quiet,
  regex,
  stopList,
} from './testing/build-bundle.ts';
import { deny } from './testing/provider-answers.ts';

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs the judgement as its callers do: a child process with the job on standard input. */
async function run(input: string): Promise<Ran> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./judge.ts', import.meta.url))], { stdio: 'pipe' });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: Number(code), stdout, stderr };
}

async function judge(
  bundle: Bundle | string,
  checks: JudgeJob['checks'] = [],
  secretsDirectory?: string,
): Promise<JudgeVerdict> {
  const job: JudgeJob = {
    bundle: typeof bundle === 'string' ? bundle : JSON.stringify(bundle),
    checks,
    ...(secretsDirectory === undefined ? {} : { secretsDirectory }),
  };
  const { code, stdout, stderr } = await run(JSON.stringify(job));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return judgeVerdictSchema.parse(JSON.parse(stdout));
}

const check = (
  name: string,
  contents: readonly string[],
  change: Partial<JudgeJob['checks'][number]> = {},
): JudgeJob['checks'][number] => ({
  name,
  policyId: 'policy-a',
  stage: 'request',
  messages: contents.map((content) => ({ role: 'user', content })),
  ...change,
});
const providers = providersAt('http://127.0.0.1:1');

describe('a judgement', () => {
  test('a judgement of a valid bundle returns its digest, its canonical form, warnings and whether its policies allow streams', async () => {
    const good = bundleOf([regex('any-byte', 'a\\Cb'), regex('anchored', '^x')]);
    const verdict = await judge(JSON.stringify(good, null, 2));
    expect(verdict).toMatchObject({
      digest: digestOf(good),
      canonical: canonicalBytes(good).toString('utf8'),
      problems: [],
      results: [],
    });
    expect(verdict.streaming).toEqual([{ policyId: 'policy-a', allowed: false, rule: 'anchored' }]);
    expect(verdict.warnings.map(({ stage, rule }) => `${stage} ${rule}`)).toEqual([
      'request any-byte',
      'response any-byte',
      'response anchored',
    ]);
  });

  test('a judgement of an invalid bundle returns every problem and exits with 0', async () => {
    const costly = await judge(bundleOf([regex('one', '(.{1,100}){1,9}Z'), stopList('two', ['x'])]));
    expect(costly.problems.map(({ code, policyId, stage, rule }) => ({ code, policyId, stage, rule }))).toEqual([
      { code: 'rule_too_costly', policyId: 'policy-a', stage: 'request', rule: 'one' },
      { code: 'rule_too_costly', policyId: 'policy-a', stage: 'response', rule: 'one' },
    ]);
    expect(costly.canonical).toBeUndefined();
    expect((await judge(bundleOf([regex('one', '(')]))).problems[0]).toMatchObject({
      code: 'bundle_invalid',
      rule: 'one',
    });
    expect((await judge('{')).problems).toEqual([
      { code: 'bundle_invalid', message: 'the bundle is not strict JSON: syntax at byte 1' },
    ]);
    expect((await judge('{}')).problems.length).toBeGreaterThan(3);
    const late = bundleOf([{ ...stopList('late', ['x']), timeoutMs: 5_000 }]);
    expect((await judge(late)).problems).toContainEqual(
      expect.objectContaining({ policyId: 'policy-a', stage: 'request', rule: 'late' }),
    );
  });

  test('a judgement of texts runs the local rules and names the rules that it did not run', async () => {
    const rules = [
      stopList('words', ['forbidden']),
      masking(stopList('names', ['alice']), '[name]'),
      detector('remote'),
    ];
    const subject = bundleOf(rules, [observed(regex('watch', 'hello')), enforced(classifier('judge'))], {
      providers,
      limits: { ...defaultBundleLimits, maxMessages: 32 },
    });
    const verdict = await judge(subject, [
      check('passes', ['hello']),
      check('rejects', ['hello', 'FORBIDDEN']),
      check('masks', ['hi Alice', 'bye'], { stage: 'response' }),
      check('is elsewhere', ['hello'], { policyId: 'policy-x' }),
      check('is too long', ['a'.repeat(40_000)]),
      check(
        'is too much',
        Array.from({ length: 33 }, () => 'x'),
      ),
      check('matches too often', ['alice'.repeat(257)]),
    ]);
    const skipped = ['remote', 'judge'];
    expect(verdict.results).toEqual([
      { name: 'passes', decision: 'Pass', rules: [], skipped },
      { name: 'rejects', decision: 'Reject', rules: ['words'], skipped },
      { name: 'masks', decision: 'Mask', rules: ['names'], contents: ['hi [name]', 'bye'], skipped },
      { name: 'is elsewhere', decision: 'Failed', code: 'policy_unavailable', rules: [], skipped: [] },
      { name: 'is too long', decision: 'Failed', code: 'body_too_large', rules: [], skipped },
      { name: 'is too much', decision: 'Failed', code: 'message_limit', rules: [], skipped },
      { name: 'matches too often', decision: 'Failed', code: 'match_limit', rules: ['names'], skipped },
    ]);
  });

  test('a judgement of a mask that grows over the limit fails as the runtime would', async () => {
    const limits = { ...defaultBundleLimits, maxBodyBytes: 256 };
    const verdict = await judge(bundleOf([masking(stopList('names', ['x']), 'y'.repeat(300))], [], { limits }), [
      check('grows', ['x']),
    ]);
    expect(verdict.results).toMatchObject([{ decision: 'Failed', code: 'output_too_large' }]);
  });

  test('judge.ts calls providers only if the job names the folder of their credentials', async () => {
    await using provider = await startScriptedHttp(deny);
    const folder = mkdtempSync(join(tmpdir(), 'portcullis-judge-'));
    try {
      writeFileSync(join(folder, 'provider.key'), 'a-key\n');
      const subject = bundleOf([quiet, detector('remote')], [observed(classifier('watch'))], {
        providers: providersAt(provider.url),
      });
      expect((await judge(subject, [check('asks', ['hello'])], folder)).results).toEqual([
        { name: 'asks', decision: 'Reject', rules: ['remote'], skipped: ['watch'] },
      ]);
      expect(provider.seen).toHaveLength(1);
      provider.play(answers('x', 500));
      expect((await judge(subject, [check('asks', ['hello'])], folder)).results).toMatchObject([
        { decision: 'Failed', code: 'provider_unavailable', rules: ['remote'] },
      ]);
      rmSync(join(folder, 'provider.key'));
      expect((await judge(subject, [], folder)).problems).toMatchObject([
        { code: 'bundle_invalid', message: expect.stringContaining('provider detector') },
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('judge.ts prints the same bytes each time', async () => {
    const subject = bundleOf(
      ['ignore.{0,40}previous', '\\b\\d{16}\\b', '(?i)pass(word|phrase)', '[а-яё]+@'].map((pattern, index) =>
        regex(`r${index}`, pattern),
      ),
    );
    const [one, two] = await Promise.all([judge(subject), judge(subject)]);
    expect(two).toEqual(one);
  });

  test('judge.ts answers each line with one line, and works out the figures of a pattern once', async () => {
    const subject = JSON.stringify(bundleOf([regex('digits', '\\d{4}')]));
    const job = (content: string): string =>
      JSON.stringify({ bundle: subject, checks: [check(content, [content])], progress: true } satisfies JudgeJob);
    const { code, stdout, stderr } = await run(`${job('1234')}\n${job('12\u202834')}\n`);
    const verdicts = stdout
      .trimEnd()
      .split('\n')
      .map((line) => judgeVerdictSchema.parse(JSON.parse(line)));
    expect(verdicts.map(({ results }) => results[0])).toMatchObject([
      { name: '1234', decision: 'Reject', rules: ['digits'] },
      { name: '12\u202834', decision: 'Pass', rules: [] },
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'judged 2 of 2\n' });
  });

  test('judge.ts returns no verdict after a line that is not a job', async () => {
    const job = JSON.stringify({ bundle: '{', checks: [] } satisfies JudgeJob);
    const { code, stdout } = await run(`${job}\nmarker\n${job}\n`);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
  });

  test('judge.ts exits with 1 when its input is not a job, and does not repeat the input', async () => {
    for (const input of ['', 'marker', '{"bundle":"marker"}', '{"bundle":"x","checks":[],"marker":1}']) {
      const { code, stdout, stderr } = await run(input);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^judge: /);
      expect(stderr).not.toContain('marker');
    }
  });
});
