import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { defaultBundleLimits } from '#contracts/bundle';
import { regexEngine } from '#contracts/local-rules';
import type { BaselineRule, Definition } from '#contracts/policy';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { createJudge } from '../bundles/run-judge.ts';
import { BrokenError } from '../reconcile/outcome.ts';
import { acceptingJudge } from '../testing/accepting-judge.ts';
import { definitionOf } from '../testing/objects.ts';
import {
  createTestPolicy,
  editPolicy,
  startTestOperator,
  type TestOperator,
  waitFor,
} from '../testing/start-test-operator.ts';

const judgeFile = join(import.meta.dirname, '../../runtime/judge.ts');

/** A definition whose response section has one pattern. */
function withPattern(pattern: string): Definition {
  const { request, response } = definitionOf('portal');
  const regex = { engine: regexEngine, pattern, caseSensitive: true } as const;
  const rule: BaselineRule = { id: 'culprit', kind: 'regex', timeoutMs: 20, action: { type: 'deny' }, regex };
  return { request, response: { ...response, baseline: [rule] }, providers: [] };
}

/** The condition of a policy, once the condition is about the current generation. */
async function conditionOf(platform: TestOperator, name: string, type: string) {
  const find = ({ status, metadata }: Pick<GuardrailPolicy, 'status'> & { metadata: { generation: number } }) =>
    status?.conditions?.find((one) => one.type === type && one.observedGeneration === metadata.generation);
  const policy = await waitFor<GuardrailPolicy>(
    platform,
    kinds.guardrailPolicy,
    name,
    `${name} has the condition ${type}`,
    (object) => find(object) !== undefined,
  );
  const { status, reason, message } = find(policy) ?? {};
  return { status, reason, message };
}

test('a policy that no binding names has conditions about refused rules and about warnings, even after an edit', async () => {
  const judge = createJudge({ file: judgeFile, secretsDirectory: '' });
  await using platform = await startTestOperator({ overrides: { judge } });
  await createTestPolicy(platform, 'guard', { definition: withPattern('(?=a)') });
  expect(await conditionOf(platform, 'guard', 'Valid')).toEqual({
    status: 'False',
    reason: 'BundleInvalid',
    message: expect.stringContaining('response section, rule culprit: '),
  });
  expect(await conditionOf(platform, 'guard', 'Warnings')).toMatchObject({ status: 'False', reason: 'NotValid' });

  await editPolicy(platform, 'guard', { definition: withPattern('^begins') });
  expect(await conditionOf(platform, 'guard', 'Valid')).toMatchObject({ status: 'True', reason: 'Valid' });
  const warned = await conditionOf(platform, 'guard', 'Warnings');
  expect(warned).toMatchObject({ status: 'True', reason: 'RulesHaveWarnings' });
  expect(warned.message).toContain(
    'response section, rule culprit: it is anchored to the beginning or end of the text',
  );
  expect(warned.message).toContain('it has no tests: nothing shows that its rules fire');

  const say = (content: string) => [{ role: 'user', content }];
  await editPolicy(platform, 'guard', {
    definition: definitionOf('portal'),
    tests: [{ name: 'fires', stage: 'request', messages: say('the portal'), expect: 'Reject' }],
  });
  expect(await conditionOf(platform, 'guard', 'Warnings')).toMatchObject({ status: 'False', reason: 'NoWarnings' });
});

test('a policy is judged once for each generation, also over a restart, and again after a technical fault', async () => {
  const judged: string[] = [];
  let isMended = false;
  const judge: typeof acceptingJudge = {
    ...acceptingJudge,
    async judge(bundle, signal) {
      judged.push(bundle.digest);
      if (!isMended) throw new BrokenError('JudgeTimeout', 'too slow');
      return acceptingJudge.judge(bundle, signal);
    },
  };
  await using platform = await startTestOperator({ overrides: { judge } });
  await createTestPolicy(platform, 'guard');
  await waitFor(platform, kinds.guardrailPolicy, 'guard', 'it was tried', () => judged.length > 0);
  const policy = await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
  expect(policy?.status?.conditions?.map(({ type }) => type)).not.toContain('Valid');
  isMended = true;
  await platform.restart({}, { judge });
  await conditionOf(platform, 'guard', 'Valid');
  const before = judged.length;
  await platform.restart({}, { judge });
  await createTestPolicy(platform, 'other');
  await conditionOf(platform, 'other', 'Valid');
  expect(judged.length).toBe(before + 1);
});

test('a policy is judged again when the limits of the platform change', async () => {
  const judge = createJudge({ file: judgeFile, secretsDirectory: '' });
  await using platform = await startTestOperator({ overrides: { judge } });
  await createTestPolicy(platform, 'guard');
  expect(await conditionOf(platform, 'guard', 'Valid')).toMatchObject({ status: 'True' });
  expect((await conditionOf(platform, 'guard', 'Warnings')).message).not.toContain('maxBodyBytes');
  await writeFile(join(platform.data, 'limits.yaml'), stringify({ ...defaultBundleLimits, maxBodyBytes: 4_096 }));
  await waitFor<GuardrailPolicy>(platform, kinds.guardrailPolicy, 'guard', 'the new limit is known', ({ status }) => {
    const { message = '' } = status?.conditions?.find(({ type }) => type === 'Warnings') ?? {};
    return message.includes('maxBodyBytes 4096 is below 8192, so streamed answers are refused');
  });
});

test('the warnings of a policy follow limits that change while the operator is stopped', async () => {
  const judge = createJudge({ file: judgeFile, secretsDirectory: '' });
  await using platform = await startTestOperator({ overrides: { judge } });
  await createTestPolicy(platform, 'guard');
  expect((await conditionOf(platform, 'guard', 'Warnings')).message).not.toContain('maxBodyBytes');
  await platform.stop();
  await writeFile(join(platform.data, 'limits.yaml'), stringify({ ...defaultBundleLimits, maxBodyBytes: 4_096 }));
  await platform.restart({}, { judge });
  await waitFor<GuardrailPolicy>(platform, kinds.guardrailPolicy, 'guard', 'the new limit is known', ({ status }) => {
    const { message = '' } = status?.conditions?.find(({ type }) => type === 'Warnings') ?? {};
    return message.includes('maxBodyBytes 4096 is below 8192, so streamed answers are refused');
  });
});
