import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCheckClient } from '#checks/client';
import { followServedTarget, servedCheckTarget } from '#checks/served-target';
import { currentProfile } from '#contracts/profiles';
import { openTokenFile } from '#kit/http/token-file';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { definitionOf, policyObject } from '../testing/objects.ts';
import { editPolicy, startTestOperator } from '../testing/start-test-operator.ts';

const list = (revision: number): string => JSON.stringify({ policies: [entryOf(revision)] });
const entryOf = (revision: number) => ({
  name: 'documents',
  policyRef: { name: 'guard', revision },
  contentProfile: currentProfile,
});

test('on one machine a service checks texts by the target file of a served policy, even after the policy moved', async () => {
  await using platform = await startTestOperator({ served: list(1) });
  const { client, data } = platform;
  const path = join(data, 'served', 'documents.json');
  await expect(follow(path), 'no target before its processes are ready').rejects.toThrow('is missing');
  await client.create(kinds.guardrailPolicy, policyObject('guard'));
  await using target = await until('the target is written', () => follow(path).catch(() => undefined));
  await using checks = createCheckClient({ tokenFile: openTokenFile(join(data, 'tokens', 'runtime.token')) });
  const ask = () =>
    checks.check(servedCheckTarget(target.current(), 'request'), 'request', [{ role: 'user', content: 'hello' }]);
  expect(await ask()).toEqual({ kind: 'pass' });
  expect(target.current()).toMatchObject({
    policyRevision: '1',
    division: { allowed: true },
    streaming: { allowed: true },
  });

  expect(await editPolicy(platform, 'guard', { definition: definitionOf('second') })).toBe(2);
  await writeFile(join(data, 'served-policies.yaml'), list(2));
  await platform.restart();
  await until('the target moves', () => target.current().policyRevision === '2');
  expect(await ask()).toEqual({ kind: 'pass' });

  await rm(join(data, 'served-policies.yaml'));
  await platform.restart();
  await until('a policy that is no longer listed is refused', async () => (await ask()).kind === 'failed');
  await until('the target is removed', async () => {
    const problem = await follow(path).then(
      (found) => found[Symbol.asyncDispose](),
      (error: Error) => error.message,
    );
    return problem?.includes('is missing');
  });
});

function follow(path: string) {
  return followServedTarget({ path, everyMs: 20, onTaken: () => undefined, onRefused: () => undefined });
}
