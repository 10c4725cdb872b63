import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { until } from '#kit/testing/until';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { bindingManifest, patternRule, policyManifest } from './testing/policy-text.ts';
import { runInProcess } from './testing/run-cli.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

const run = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  runInProcess(args, { data: platform.data, ...(input === undefined ? {} : { input }) });
const json = async (...args: readonly string[]) => JSON.parse((await run([...args, '--json'])).stdout);
const apply = (text: string, ...more: readonly string[]) => run(['apply', '-f', '-', ...more], text);

test('a rollback chooses the last applied revision, not a revision that was never applied', async () => {
  const words = patternRule('digits', '[0-9]{4}');
  await apply(
    `${policyManifest({ name: 'held', request: words })}---\n${bindingManifest('wandering', 'held', 1)}`,
    '--wait',
  );
  await apply(policyManifest({ name: 'broken', request: patternRule('open', '(') }));
  await apply(bindingManifest('wandering', 'broken', 1));
  const back = await run(['rollback', 'wandering', '--wait']);
  expect(back.stdout).toBe('ModelBinding wandering set to revision 1 of held\nModelBinding wandering is applied\n');
  expect((await run(['chat', 'wandering', '--message', 'year 2024'])).code).toBe(6);
});

const noneBefore = (binding: string, policy: string) =>
  `portcullis: The ModelBinding ${binding} has no recorded application of another revision that is still stored. ` +
  `To apply another revision of ${policy}, name it with --to N; "portcullis history ${policy}" lists them.\n`;

test('a rollback of a binding whose only application failed claims no record, and names how another revision is applied', async () => {
  await apply(policyManifest({ name: 'torn', request: patternRule('open', '(') }));
  await apply(bindingManifest('unlucky', 'torn', 1));
  expect(await run(['rollback', 'unlucky'])).toMatchObject({ code: 2, stderr: noneBefore('unlucky', 'torn') });
});

test('a rollback returns to the policy before, even after five applications of the present one', async () => {
  await apply(`${policyManifest({ name: 'evening' })}---\n${bindingManifest('nightly', 'evening', 1)}`, '--wait');
  const none = await run(['rollback', 'nightly', '--wait']);
  expect(none).toMatchObject({ code: 2, stderr: noneBefore('nightly', 'evening') });
  await apply(bindingManifest('nightly', 'guarded-chat', 1), '--wait');
  for (let count = 1; count <= 4; count++) expect((await run(['reapply', 'nightly', '--wait'])).code).toBe(0);
  const { applications } = (await json('get', 'mb', 'nightly')).status;
  expect(applications).toHaveLength(5);
  const back = await run(['rollback', 'nightly', '--wait']);
  expect(back.stdout).toBe('ModelBinding nightly set to revision 1 of evening\nModelBinding nightly is applied\n');
});

test.each([
  [[], 'has no policy and no recorded application of one', 'N'],
  [['--to', '1'], 'has no policy', '1'],
])('a rollback %j of a binding that never had a policy names the command that applies one', async (to, problem, n) => {
  const bare = parse(bindingManifest('bare', 'guarded-chat', 1));
  bare.spec.guardrail = { mode: 'None' };
  expect((await apply(stringify(bare), '--wait')).code).toBe(0);
  const command = `portcullis apply-revision bare ${n} --policy POLICY`;
  expect(await run(['rollback', 'bare', ...to])).toMatchObject({
    code: 2,
    stderr: `portcullis: The ModelBinding bare ${problem}: name one with "${command}"; "portcullis get guardrailpolicies" lists them.\n`,
  });
  const words = command.replace('POLICY', 'guarded-chat').replace(' N ', ' 1 ').split(' ').slice(1);
  expect((await run([...words, '--dry-run=server'])).code).toBe(0);
});

test('a rollback to an archived policy is refused before anything is written', async () => {
  await apply(`${policyManifest({ name: 'filed' })}---\n${bindingManifest('to-file', 'filed', 1)}`, '--wait');
  await apply(bindingManifest('to-file', 'guarded-chat', 1), '--wait');
  await apply(policyManifest({ name: 'filed' }).replace('lifecycle: Draft', 'lifecycle: Archived'));
  const before = await json('get', 'mb', 'to-file');
  const back = await run(['rollback', 'to-file', '--wait']);
  expect(back).toMatchObject({ code: 9, stderr: expect.stringContaining('the policy is archived') });
  expect((await json('get', 'mb', 'to-file')).metadata.generation).toBe(before.metadata.generation);
  const again = await run(['apply-revision', 'to-file', '1', '--policy', 'filed']);
  expect(again).toMatchObject({ code: 9, stderr: expect.stringContaining('the policy is archived') });
});

test('a rollback to a deleted policy is refused before anything is written', async () => {
  await apply(`${policyManifest({ name: 'gone' })}---\n${bindingManifest('left', 'gone', 1)}`, '--wait');
  await apply(bindingManifest('left', 'guarded-chat', 1), '--wait');
  expect((await run(['delete', 'gp', 'gone', '--yes'])).code).toBe(0);
  await until('the policy is deleted', async () => (await run(['get', 'gp', 'gone'])).code === 3);
  const before = await json('get', 'mb', 'left');
  const back = await run(['rollback', 'left', '--wait']);
  expect(back).toMatchObject({ code: 9, stderr: expect.stringContaining('the policy was deleted') });
  expect((await json('get', 'mb', 'left')).metadata.generation).toBe(before.metadata.generation);
});
