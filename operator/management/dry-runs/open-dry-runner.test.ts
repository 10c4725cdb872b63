import { expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import { currentProfile } from '#contracts/profiles';
import type { PolicyTest } from '#resources/guardrail-policy';
import { makeRevisionContent } from '../../revisions/resources/revision.ts';
import { askingDefinitionOf, definitionOf, policyObject } from '../../testing/objects.ts';
import { openDryRunner } from './open-dry-runner.ts';

const policyId = '01890000-0000-7000-8000-000000000000';
const spam = { name: 'spam', kind: 'detector', endpoint: 'http://127.0.0.1:9/scan', credential: 'spam-key' } as const;
const runDry = openDryRunner(undefined, () => ({ approved: [spam], limits: defaultBundleLimits }));

const says = (stage: PolicyTest['stage']): PolicyTest => ({
  name: 'says-hello',
  stage,
  messages: [{ role: 'user', content: 'hello' }],
  expect: 'Pass',
});
const run = (definition: ReturnType<typeof definitionOf>, tests: readonly PolicyTest[]) =>
  runDry({
    revision: {
      policyId,
      number: 1,
      ...makeRevisionContent(
        { name: 'dry', uid: policyId, generation: 1 },
        policyObject('dry', { definition, tests: [...tests] }).spec,
      ),
    },
    contentProfile: currentProfile,
    policy: { kind: 'found', id: policyId, archived: false, deleting: false, idConflict: false },
    refusals: [],
    upstream: { kind: 'approved', provider: 'echo', endpoint: '', credential: undefined, enabled: true },
  });

test('a dry run without credentials of providers does not report that a rule with a provider would be applied', async () => {
  const asking = await run(askingDefinitionOf('portal'), [says('request')]);
  expect([asking.wouldApply, asking.error]).toEqual([null, null]);
  expect(asking.checks.slice(3)).toEqual([
    { check: 'providers', state: 'not_run', message: expect.stringContaining('no credentials of providers') },
    { check: 'tests', state: 'not_run', message: expect.stringContaining('Only local rules were run') },
  ]);
});

test('a dry run of local rules needs no credentials of providers, and runs every test', async () => {
  const local = await run(definitionOf('portal'), [says('request')]);
  expect([local.wouldApply, local.error]).toEqual([true, null]);
  expect(local.checks.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed', 'passed', 'passed']);
});

test('a dry run decides a test of a stage without providers, whatever the other stage calls', async () => {
  const asking = await run(askingDefinitionOf('portal'), [says('response')]);
  expect(asking.checks.at(4)).toEqual({ check: 'tests', state: 'passed', message: null });
});
