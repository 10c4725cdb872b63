import { expect, test, vi } from 'vitest';
import type { Manifest } from '#kube/apply/read-manifests';
import { sampleAgent, sampleAgentVersion } from '#kube/testing/sample-agents';
import { sampleBinding } from '#kube/testing/sample-resources';
import { type Kind, kinds } from '#resources/kinds';
import type { ReadManifest } from '../manifests/read-resources.ts';
import type { ConfirmOption } from '../options/confirm-option.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import { applyManifests } from './apply-manifests.ts';

const served = sampleAgent('desk', 'guarded-1');
const plain = sampleBinding('chat');
const guardrail = { mode: 'Policy', policyRef: { name: 'policy', revision: 3 } } as const;
const guarding = { ...plain, spec: { ...plain.spec, guardrail } };
const live: Readonly<Record<string, object>> = {
  'Agent/desk': { ...served, metadata: { name: 'desk', uid: 'u', generation: 4 } },
  'Agent/hello': {
    ...sampleAgent('hello', 'open-2'),
    metadata: { name: 'hello', uid: 'h', generation: 2 },
    status: { conditions: [], checked: ['Input'], served: { version: 'guarded-1', versionId: 'v' } },
  },
  'ModelBinding/chat': {
    ...guarding,
    metadata: { name: 'chat', uid: 'b', generation: 7 },
    spec: { ...guarding.spec, judge: ['toolCalls', 'files'], unjudged: 'Refuse' },
    status: { conditions: [], pinned: { generationId: 'g', policyId: 'p', policyRevision: 3 } },
  },
  'AgentVersion/guarded-1': sampleAgentVersion('guarded-1', 'policy'),
};
/** A version that the Agent hello names already. */
const named = [
  { kind: kinds.agentVersion, resource: sampleAgentVersion('open-2') },
] as unknown as readonly ReadManifest[];
const manifests = [
  { kind: kinds.agent, resource: sampleAgent('desk', 'open-1') },
  { kind: kinds.agentVersion, resource: sampleAgentVersion('open-1') },
] as unknown as readonly ReadManifest[];

async function apply(options: ConfirmOption, applied: readonly ReadManifest[] = manifests) {
  const written: Pick<Manifest, 'resource'>['resource'][] = [];
  const client = { namespace: 'default', get: async ({ kind }: Kind, name: string) => live[`${kind}/${name}`] };
  const applyManifest = async ({ resource }: Pick<Manifest, 'resource'>) => {
    written.push(resource);
    return { action: 'configured', object: resource };
  };
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const resources = { client, writer: { applyManifest } } as unknown as OpenedResources;
    const error = await applyManifests(resources, { manifests: applied }, options).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return { error, written };
  } finally {
    write.mockRestore();
  }
}

test('an applied agent that would serve a version of the same files with fewer checks is written after a confirmation only', async () => {
  const { error, written } = await apply({});
  expect(error).toMatchObject({ exit: 'not_confirmed', message: expect.stringContaining('open-1, which leaves') });
  expect(written).toEqual([]);
});

test('a confirmed agent is written after its version, with the confirmation that the server requires', async () => {
  const { error, written } = await apply({ yes: true });
  expect(error).toBeUndefined();
  expect(written.map(({ kind }) => kind)).toEqual(['AgentVersion', 'Agent']);
  expect(written[1]?.metadata.annotations).toEqual({ 'portcullis.dev/confirm-unguarded': 'u.4' });
});

test('a new version that its agent names already and that loses checks is written after a confirmation only', async () => {
  const refused = await apply({}, named);
  expect(refused.error).toMatchObject({
    exit: 'not_confirmed',
    message: expect.stringContaining('open-2, which leaves'),
  });
  expect(refused.written).toEqual([]);
  const { error, written } = await apply({ yes: true }, named);
  expect(error).toBeUndefined();
  expect(written[0]?.metadata.annotations).toEqual({ 'portcullis.dev/confirm-unguarded': 'h.2' });
});

test.each([
  [
    'another alias',
    { model: { ...plain.spec.model, alias: 'renamed' } },
    /: the binding would stop serving the model /,
  ],
  ['fewer kinds of judged text', { judge: ['files'] }, /^ModelBinding chat: texts of these kinds.*: toolCalls\.$/m],
  ['without unjudged: Refuse', { unjudged: undefined }, /text that is not judged would be forwarded\.$/m],
] as const)('a guarding binding with %s is written after a confirmation only', async (_what, change, question) => {
  const judged = { judge: ['toolCalls', 'files'], unjudged: 'Refuse' } as const;
  const resource = { ...guarding, spec: { ...guarding.spec, ...judged, ...change } };
  const applied = [{ kind: kinds.modelBinding, resource }] as unknown as readonly ReadManifest[];
  const refused = await apply({}, applied);
  expect(refused.error).toMatchObject({ exit: 'not_confirmed', message: expect.stringMatching(question) });
  expect(refused.written).toEqual([]);
  const { error, written } = await apply({ yes: true }, applied);
  expect(error).toBeUndefined();
  expect(written[0]?.metadata.annotations).toEqual({ 'portcullis.dev/confirm-unguarded': 'b.7' });
});

test('a guarding binding with more kinds of judged text is written without a question', async () => {
  const judged = { judge: ['all'], unjudged: 'Refuse', streaming: 'Refused' } as const;
  const resource = { ...guarding, spec: { ...guarding.spec, ...judged } };
  const { error, written } = await apply({}, [
    { kind: kinds.modelBinding, resource },
  ] as unknown as readonly ReadManifest[]);
  expect(error).toBeUndefined();
  expect(written[0]?.metadata.annotations).toBeUndefined();
});
