import { expect, test } from 'vitest';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import { sampleBinding, samplePolicy } from '#kube/testing/sample-resources';
import { kinds } from '#resources/kinds';
import { makeDataDirectory, openFolder } from './testing/open-folder.ts';

test('a policy is deleted only with a confirmation while bindings refer to it, and the refusal names them', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { client } = folder;
  const used = await client.create(kinds.guardrailPolicy, samplePolicy('used'));
  const unused = await client.create(kinds.guardrailPolicy, samplePolicy('unused'));
  const guardrail = { mode: 'Policy', policyRef: { name: 'used', revision: 1 } } as const;
  for (const name of ['one', 'two']) {
    const binding = sampleBinding(name);
    await client.create(kinds.modelBinding, { ...binding, spec: { ...binding.spec, guardrail } });
  }
  await expect(client.delete(kinds.guardrailPolicy, 'used', { uid: used.metadata.uid })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('the ModelBinding one, the ModelBinding two refers to the GuardrailPolicy used'),
  });
  await client.delete(kinds.guardrailPolicy, 'unused', { uid: unused.metadata.uid });
  await deleteConfirmed(client, kinds.guardrailPolicy, used);
  expect(await client.get(kinds.guardrailPolicy, 'used')).toBeUndefined();
});
