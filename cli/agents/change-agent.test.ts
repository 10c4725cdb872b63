import { expect, test, vi } from 'vitest';
import type { Manifest } from '#kube/apply/read-manifests';
import type { KubeClient } from '#kube/client/client';
import type { Kind } from '#resources/kinds';
import type { OpenedResources } from '../resources/resource-source.ts';
import { changeAgent } from './change-agent.ts';

const checked = { mode: 'Policy', policyRef: { name: 'chat', revision: 1 } };
const unguarded = { mode: 'None' };
const versionWith = (guardrail: object, agent = 'desk') => ({
  spec: { agent, guardrails: { input: guardrail, output: guardrail } },
});
const objects: Readonly<Record<string, object>> = {
  'Agent/desk': {
    kind: 'Agent',
    metadata: { name: 'desk', uid: 'u', generation: 4, labels: { team: 'blue' }, annotations: { note: 'kept' } },
    spec: { version: 'desk-1' },
  },
  'AgentVersion/desk-1': { metadata: { name: 'desk-1' }, ...versionWith(checked) },
  'AgentVersion/desk-2': { metadata: { name: 'desk-2' }, ...versionWith(unguarded) },
  'AgentVersion/desk-3': { metadata: { name: 'desk-3' }, ...versionWith(checked) },
  'AgentVersion/other-1': { metadata: { name: 'other-1' }, ...versionWith(checked, 'other') },
  'AgentVersion/desk-4': { metadata: { name: 'desk-4', deletionTimestamp: 'now' }, ...versionWith(checked) },
};
const client = {
  namespace: 'default',
  get: async ({ kind }: Kind, name: string) => objects[`${kind}/${name}`],
  list: async () => ({ items: [objects['AgentVersion/desk-2']], resourceVersion: '1' }),
} as unknown as KubeClient;

/** The error of a change of the agent, if there is one, and the written metadata. */
async function change(spec: Parameters<typeof changeAgent>[2], options: Parameters<typeof changeAgent>[3] = {}) {
  const applyManifest = vi.fn(async () => ({ object: objects['Agent/desk'] }));
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const resources = { client, writer: { applyManifest } } as unknown as OpenedResources;
    const error = await changeAgent(resources, 'desk', spec, options).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const [written] = applyManifest.mock.calls as unknown as readonly [(readonly [Pick<Manifest, 'resource'>])?];
    return { error, metadata: written?.[0].resource.metadata };
  } finally {
    write.mockRestore();
  }
}

test.each([
  ['served', { version: 'desk-2' }],
  ['on trial', { version: 'desk-1', canary: { version: 'desk-2', percent: 1 } }],
])('a version without the checks of the present one is %s only after a confirmation', async (_place, spec) => {
  const { error, metadata } = await change(() => spec);
  expect(error).toMatchObject({ exit: 'not_confirmed', message: expect.stringContaining('desk-2, which leaves') });
  expect(metadata).toBeUndefined();
  const confirmed = { note: 'kept', 'portcullis.dev/confirm-unguarded': 'u.4' };
  expect(await change(() => spec, { yes: true })).toEqual({
    error: undefined,
    metadata: { name: 'desk', labels: { team: 'blue' }, annotations: confirmed },
  });
});

test('a version with the checks of the present one is served without a confirmation, and the agent keeps its labels', async () => {
  expect(await change(() => ({ version: 'desk-3' }))).toEqual({
    error: undefined,
    metadata: { name: 'desk', labels: { team: 'blue' }, annotations: { note: 'kept' } },
  });
});

test.each([
  ['desk-22', 'not_found', /^There is no AgentVersion named desk-22 .* Did you mean desk-2\?$/],
  ['other-1', 'usage', /^The AgentVersion other-1 is a version of the Agent other: choose a version of desk\.$/],
  ['desk-4', 'conflict', /^The AgentVersion desk-4 is being deleted/],
])('the version %s, which cannot be served, is refused before anything is written', async (version, exit, message) => {
  for (const spec of [{ version }, { version: 'desk-1', canary: { version, percent: 1 } }]) {
    for (const options of [{ yes: true }, { dryRun: 'server' }, { dryRun: 'client' }] as const) {
      const end = await change(() => spec, options);
      expect(end).toEqual({
        error: expect.objectContaining({ exit, message: expect.stringMatching(message) }),
        metadata: undefined,
      });
    }
  }
});

test('a client dry run names no confirmation and writes nothing', async () => {
  expect(await change(() => ({ version: 'desk-2' }), { dryRun: 'client' })).toEqual({
    error: undefined,
    metadata: undefined,
  });
});
