import { expect, test } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { createdAnnotation, idLabel, kinds, restoreMark } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { policyNameHash, policyNameLabel } from '#resources/revision-labels';
import { makeDataDirectory, openFolder, silentLogger } from '../../folder-api/testing/open-folder.ts';
import { definitionOf, policyObject } from '../../testing/objects.ts';
import { createPolicyRestores } from './policy-restores.ts';

const policies = kinds.guardrailPolicy;
const id = '01990000-0000-7000-8000-000000000001';

function revisionOf({ metadata, spec }: Stored<GuardrailPolicy>): PolicyRevision {
  const { name, uid, generation } = metadata;
  const { displayName, description, lifecycle } = spec;
  return {
    apiVersion: 'portcullis.dev/v1alpha1',
    kind: 'PolicyRevision',
    metadata: { name: 'guard-r1', labels: { [policyNameLabel]: policyNameHash(name) } },
    spec: {
      policyId: id,
      number: 1,
      policy: { name, uid, generation },
      token: '',
      displayName,
      description,
      lifecycle,
      definition: JSON.stringify(definitionOf('portal')),
      definitionDigest: '0'.repeat(64),
      ruleCount: 2,
      ruleKinds: ['stop_list'],
      tests: [],
    },
  };
}

/** A client whose first read of the policy is delayed until `act` has ended, like a read of a suspended operator. */
function overtaken(client: KubeClient, act: () => Promise<void>): KubeClient {
  let isFirst = true;
  const get: KubeClient['get'] = async (kind, name) => {
    if (isFirst && kind.kind === policies.kind) {
      isFirst = false;
      await act();
    }
    return client.get(kind, name);
  };
  return { ...client, get };
}

test('an operator that completes a restore late keeps the mark that another operator wrote for a later deletion', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { client } = folder;
  const rest = { logger: silentLogger, events: { record: () => undefined } };
  const current = createPolicyRestores({ client, ...rest });
  const first = await client.create<GuardrailPolicy>(policies, policyObject('guard'));
  await client.create(kinds.policyRevision, revisionOf(first));
  await current.mark(first, 'guard-r1');
  await client.delete(policies, 'guard', { uid: first.metadata.uid });

  const late = createPolicyRestores({
    client: overtaken(client, async () => {
      await current.complete('guard');
      const restored = await client.get<GuardrailPolicy>(policies, 'guard');
      if (restored === undefined) throw new Error('the policy was not restored');
      expect(restored.metadata.labels).toEqual({ [idLabel]: id });
      await current.mark(restored, 'guard-r1');
    }),
    ...rest,
  });
  expect(await late.find()).toEqual(['guard']);
  await late.complete('guard').catch(() => undefined);
  const restored = await client.get<GuardrailPolicy>(policies, 'guard');
  const revision = await client.get<PolicyRevision>(kinds.policyRevision, 'guard-r1');
  expect(JSON.parse(revision?.metadata.annotations?.[restoreMark] ?? '{}')).toEqual({
    uid: restored?.metadata.uid,
    labels: { [idLabel]: id },
    annotations: { [createdAnnotation]: first.metadata.creationTimestamp },
  });
});
