import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { canonicalBytes } from '#contracts/canonical';
import { regexEngine } from '#contracts/local-rules';
import type { Definition } from '#contracts/policy';

import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { revisionOf } from '../controllers/model-binding/testing/snapshots.ts';
import { definitionOf } from '../testing/objects.ts';
import { buildBundle } from './build-bundle.ts';
import { createJudge } from './run-judge.ts';

const file = join(import.meta.dirname, '../../runtime/judge.ts');
const { signal } = new AbortController();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-judge-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function bundleOf(definition: Definition) {
  const revision = revisionOf(1, { definition: canonicalBytes(definition).toString('utf8') });
  const built = buildBundle({ revision, contentProfile: currentProfile, limits: defaultBundleLimits, approved: [] });
  if (built.kind !== 'built') throw new TypeError(built.message);
  return built;
}

function withPattern(pattern: string): Definition {
  const { request, response } = definitionOf('portal');
  const regex = { engine: regexEngine, pattern, caseSensitive: true } as const;
  const rule = { id: 'culprit', kind: 'regex', timeoutMs: 20, action: { type: 'deny' }, regex } as const;
  return { request, response: { ...response, baseline: [rule] }, providers: [] };
}

/** A validation process that runs the given source text. */
async function judgeThat(does: string, timeoutMs = 30_000) {
  const path = join(folder, `${does.length}.ts`);
  await writeFile(path, does);
  return createJudge({ file: path, secretsDirectory: folder, timeoutMs });
}

describe('bundle validation', () => {
  const judge = createJudge({ file, secretsDirectory: '' });

  test('bundle validation accepts a valid bundle and reports whether its answers can be checked in windows', async () => {
    const sound = await judge.judge(bundleOf(definitionOf('portal')), signal);
    expect(sound).toEqual({
      kind: 'accepted',
      streaming: { allowed: true },
      division: { allowed: true },
      warnings: [],
    });
    const anchored = await judge.judge(bundleOf(withPattern('^begins')), signal);
    expect(anchored).toMatchObject({ kind: 'accepted', streaming: { allowed: false, rule: 'culprit' } });
  });

  test.each([
    ['bundle_invalid', '(?=a)'],
    ['rule_too_costly', 'a.{0,900}b.{0,900}c.{0,900}d'],
  ])('bundle validation refuses a bundle as %s and names the rule', async (reason, pattern) => {
    const refused = await judge.judge(bundleOf(withPattern(pattern)), signal);
    expect(refused).toMatchObject({ kind: 'refused', reason });
    expect(refused.kind === 'refused' ? refused.message : '').toContain('response section, rule culprit: ');
  });

  test('bundle validation runs texts through the local rules', async () => {
    const { bundle } = bundleOf(definitionOf('portal'));
    const policyId = bundle.policies[0]?.id ?? '';
    const check = (name: string, content: string) => ({
      name,
      policyId,
      stage: 'request' as const,
      messages: [{ role: 'user', content }],
    });
    const results = await judge.check(bundle, [check('one', 'about the portal'), check('two', 'hello')], {
      providers: 'skipped',
      signal,
    });
    expect(results).toEqual([
      { name: 'one', decision: 'Reject', code: undefined, rules: [expect.any(String)] },
      { name: 'two', decision: 'Pass', code: undefined, rules: [] },
    ]);
  });

  test('a validation that exceeds the timeout refuses no bundle and is repeated', async () => {
    const bundle = bundleOf(definitionOf('portal'));
    const flag = join(folder, 'second-time');
    const late = await judgeThat(
      `import { existsSync, writeFileSync } from 'node:fs';
       if (!existsSync(${JSON.stringify(flag)})) { writeFileSync(${JSON.stringify(flag)}, ''); for (;;); }
       await import(${JSON.stringify(file)});`,
      4_000,
    );
    await expect(late.judge(bundle, signal)).rejects.toMatchObject({
      code: 'JudgeTimeout',
      message: expect.stringContaining('the machine is too slow or too busy: the bundle was not validated within 4 s'),
    });
    await until('the same bundle is accepted', async () => {
      const again = await late.judge(bundle, signal).catch(() => undefined);
      return again?.kind === 'accepted';
    });
  });

  test('local checks that exceed the timeout have no result', async () => {
    const endless = await judgeThat('for (;;); // local checks', 300);
    const { bundle } = bundleOf(definitionOf('portal'));
    const skipped = { providers: 'skipped', signal } as const;
    await expect(endless.check(bundle, [], skipped)).rejects.toMatchObject({ code: 'JudgeTimeout' });
  });

  test('a bundle is validated again if the validation process was killed or failed, and refused if the process returned no verdict', async () => {
    const bundle = bundleOf(definitionOf('portal'));
    const silent = await judgeThat('process.stdin.resume();');
    expect(await silent.judge(bundle, signal)).toMatchObject({ kind: 'refused', reason: 'bundle_invalid' });
    const failing = await judgeThat('process.stdin.resume(); process.exitCode = 1;');
    await expect(failing.judge(bundle, signal)).rejects.toMatchObject({ code: 'JudgeUnavailable' });
    const killed = await judgeThat("process.kill(process.pid, 'SIGKILL'); // the system is short of memory");
    await expect(killed.judge(bundle, signal)).rejects.toMatchObject({ code: 'JudgeUnavailable' });
  });

  test('a verdict of several MiB is read, because it contains the canonical form of a large bundle', async () => {
    const bundle = bundleOf(definitionOf('portal'));
    const verdict = { problems: [], warnings: [], streaming: [], division: [], results: [], digest: bundle.digest };
    const large = await judgeThat(
      `process.stdin.resume(); const canonical = '"'.repeat(4_000_000); ` +
        `process.stdout.write(JSON.stringify({ ...${JSON.stringify(verdict)}, canonical }));`,
    );
    expect(await large.judge(bundle, signal)).toMatchObject({ kind: 'accepted' });
  });

  test('a bundle validation stores the measured costs of patterns in the given folder', async () => {
    const cacheDirectory = join(folder, 'judging');
    const keeping = createJudge({ file, secretsDirectory: '', cacheDirectory });
    await keeping.judge(bundleOf(withPattern('kept[0-9]+')), signal);
    expect(await readdir(cacheDirectory)).toEqual([expect.stringMatching(/^figures-[0-9a-f]{32}\.json$/)]);
  });

  test('a bundle is refused if its validation computed another digest', async () => {
    const verdict = {
      digest: 'b'.repeat(64),
      canonical: '{}',
      problems: [],
      warnings: [],
      streaming: [],
      division: [],
      results: [],
    };
    const wrong = await judgeThat(
      `process.stdin.resume(); process.stdout.write(${JSON.stringify(JSON.stringify(verdict))});`,
    );
    expect(await wrong.judge(bundleOf(definitionOf('portal')), signal)).toMatchObject({ kind: 'refused' });
  });

  test('the same bundle bytes are validated once', async () => {
    const counter = join(folder, 'runs');
    const verdict = {
      problems: [{ code: 'bundle_invalid', message: 'm' }],
      warnings: [],
      streaming: [],
      division: [],
      results: [],
    };
    const source = `import { appendFileSync } from 'node:fs'; process.stdin.resume(); appendFileSync(${JSON.stringify(counter)}, 'x'); process.stdout.write(${JSON.stringify(JSON.stringify(verdict))});`;
    const counted = await judgeThat(source);
    const bundle = bundleOf(definitionOf('portal'));
    const first = await counted.judge(bundle, signal);
    expect(await counted.judge(bundle, signal)).toBe(first);
    const { readFile } = await import('node:fs/promises');
    expect(await readFile(counter, 'utf8')).toBe('x');
  });

  test('bundle validation stops when its caller aborts', async () => {
    const stop = new AbortController();
    const endless = await judgeThat('for (;;); // for ever');
    const judging = endless.judge(bundleOf(definitionOf('portal')), stop.signal);
    stop.abort(new DOMException('over', 'AbortError'));
    await expect(judging).rejects.toThrow('over');
  });
});
