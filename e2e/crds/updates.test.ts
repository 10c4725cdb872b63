import { describe, expect, test } from 'vitest';
import { immutabilityProblems } from '#resources/immutability';
import { type Kind, kinds } from '#resources/kinds';
import type { Resource } from '#resources/metadata';
import { bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { fullObjects, imageVersion } from './full-objects.ts';
import { collection, item, useTestApi } from './test-api.ts';

type Operation = { readonly op: 'add' | 'remove' | 'replace'; readonly path: string; readonly value?: unknown };
type Case = {
  readonly title: string;
  readonly kind: Kind;
  readonly object: Resource;
  readonly change: Operation;
  /** Part of the error message; absent when the change is allowed. */
  readonly refused?: string;
};

const id = '01990000-0000-7000-8000-00000000000a';
const idPath = '/metadata/labels/portcullis.dev~1id';
const labelled = (object: Resource): Resource => ({
  ...object,
  metadata: { ...object.metadata, labels: { 'portcullis.dev/id': id, other: 'x' } },
});
const neverRevision = 'the spec of a PolicyRevision never changes';

const revision = { kind: kinds.policyRevision, object: fullObjects.policyRevision };
const generation = { kind: kinds.runtimeWorkload, object: fullObjects.runtimeWorkload };
const binding = { kind: kinds.modelBinding, object: bindingObject('update', { apply: 'one' }) };
const declared = { kind: kinds.collection, object: fullObjects.collection };
const policy = { kind: kinds.guardrailPolicy, object: labelled(policyObject('update')) };

const cases: readonly Case[] = [
  { title: 'a member of a revision, changed', ...revision, change: replace('/spec/number', 2), refused: neverRevision },
  {
    title: 'the definition of a revision, changed',
    ...revision,
    change: replace('/spec/definition', '[]'),
    refused: neverRevision,
  },
  {
    title: 'an item of a revision, added',
    ...revision,
    change: add('/spec/ruleKinds/-', 'regex'),
    refused: neverRevision,
  },
  { title: 'an item of a revision, removed', ...revision, change: remove('/spec/ruleKinds/0'), refused: neverRevision },
  { title: 'a label of a revision, added', ...revision, change: add('/metadata/labels', { team: 'a' }) },
  ...(['digest', 'build', 'manifest'] as const).map((member) => ({
    title: `the ${member} of a workload, changed`,
    ...generation,
    change: replace(`/spec/${member}`, 'b'.repeat(64)),
    refused: `the ${member} of a RuntimeWorkload never changes`,
  })),
  { title: 'the replicas of a workload, changed', ...generation, change: replace('/spec/replicas', 3) },
  { title: 'the state of a workload, changed', ...generation, change: replace('/spec/state', 'Draining') },
  ...(
    [
      ['tenant', 'other'],
      ['owner/subject', 'eve'],
      ['source', { mode: 'New' }],
      ['type', 'Files'],
      ['aclModel', 'Collection'],
      ['chunking/size', 400],
    ] as const
  ).map(([path, value]) => ({
    title: `the ${path} of a collection, changed`,
    ...declared,
    change: replace(`/spec/${path}`, value),
    refused: `the ${path.split('/')[0]} of a Collection never changes`,
  })),
  ...(
    [
      ['name', 'Other'],
      ['description', ''],
      ['visibility', 'Public'],
      ['parent', { mode: 'None' }],
      ['embeddingProfile', 'another'],
      ['deletionPolicy', 'Delete'],
    ] as const
  ).map(([path, value]) => ({
    title: `the ${path} of a collection, edited`,
    ...declared,
    change: replace(`/spec/${path}`, value),
  })),
  ...(
    [
      ['agent', 'other'],
      ['lowCode/flow', 'another flow'],
      ['guardrails/output', { mode: 'None' }],
      ['requires', []],
      ['limits/concurrency', 5],
    ] as const
  ).map(([path, value]) => ({
    title: `the ${path} of a version of an agent, changed`,
    kind: kinds.agentVersion,
    object: fullObjects.agentVersion,
    change: replace(`/spec/${path}`, value),
    refused: 'the spec of an AgentVersion never changes',
  })),
  {
    title: 'the image of a version of an agent, changed',
    kind: kinds.agentVersion,
    object: imageVersion,
    change: replace('/spec/sdk/image', imageVersion.spec.sdk.image.replace('helper', 'other')),
    refused: 'the spec of an AgentVersion never changes',
  },
  ...(
    [
      ['version', 'sample-3'],
      ['canary/percent', 99],
      ['owner/subject', 'eve'],
      ['access/invoke', []],
    ] as const
  ).map(([path, value]) => ({
    title: `the ${path} of an agent, edited`,
    kind: kinds.agent,
    object: fullObjects.agent,
    change: replace(`/spec/${path}`, value),
  })),
  { title: 'the defaults of a collection, removed', ...declared, change: remove('/spec/retrievalDefaults') },
  { title: 'an id, added', ...binding, change: add('/metadata/labels', { 'portcullis.dev/id': id }) },
  {
    title: 'an id of another form, added',
    ...binding,
    change: add('/metadata/labels', { 'portcullis.dev/id': 'mine' }),
    refused: 'is a UUID of version 7',
  },
  {
    title: 'an id, changed',
    ...policy,
    change: replace(idPath, id.replace('a', 'b')),
    refused: 'is set once and never changes',
  },
  { title: 'an id, removed', ...policy, change: remove(idPath), refused: 'is set once and never changes' },
  {
    title: 'all labels, removed',
    ...policy,
    change: remove('/metadata/labels'),
    refused: 'is set once and never changes',
  },
  { title: 'another label, removed', ...policy, change: remove('/metadata/labels/other') },
  { title: 'a token, changed', ...binding, change: replace('/spec/apply', 'two') },
  { title: 'a token, removed', ...binding, change: remove('/spec/apply') },
];

function replace(path: string, value: unknown): Operation {
  return { op: 'replace', path, value };
}
function add(path: string, value: unknown): Operation {
  return { op: 'add', path, value };
}
function remove(path: string): Operation {
  return { op: 'remove', path };
}

describe('the API server and the TypeScript validation agree on updates', () => {
  const api = useTestApi();

  test.each(cases)(
    'the API server and TypeScript agree on an update: $title',
    async ({ kind, object, change, refused, title }) => {
      const name = title.replaceAll(/[^a-z]+/g, '-');
      const named = { ...object, metadata: { ...object.metadata, name } };
      const created = await api.send('POST', collection(kind.plural), { body: named });
      expect(created.status, created.body.message).toBe(201);
      const { status, body } = await api.send('PATCH', item(kind.plural, name), {
        body: [change],
        contentType: 'application/json-patch+json',
      });
      const after = refused === undefined ? body : patched(created.body, change);
      const problems = immutabilityProblems(kind, created.body as unknown as Resource, after as unknown as Resource);
      if (refused === undefined) {
        expect(status, body.message).toBe(200);
        expect(problems).toEqual([]);
        return;
      }
      expect(status).toBe(422);
      expect(body.message).toContain(refused);
      expect(problems.map(({ message }) => message).join()).toContain(refused);
    },
  );

  test('the status of a binding is written only through the status subresource', async () => {
    const object = bindingObject('status-apart');
    const withStatus = { ...object, status: { observedGeneration: 7 } };
    const created = await api.send('POST', collection('modelbindings'), { body: withStatus });
    expect(created.body.status).toBeUndefined();

    const put = await api.send('PUT', item('modelbindings', 'status-apart'), {
      body: { ...created.body, status: { observedGeneration: 7 } },
    });
    expect(put).toMatchObject({ status: 200 });
    expect(put.body.status).toBeUndefined();

    const change = [
      { op: 'add', path: '/status', value: { observedGeneration: 1 } },
      { op: 'replace', path: '/spec/gateway', value: 'smuggled' },
    ];
    const written = await api.send('PATCH', item('modelbindings', 'status-apart/status', ''), {
      body: change,
      contentType: 'application/json-patch+json',
    });
    expect(written.body.status).toEqual({ observedGeneration: 1 });
    expect(written.body.spec).toMatchObject({ gateway: 'default' });
    expect(written.body.metadata?.generation).toBe(1);
  });

  test.each(['policyRevision', 'gatewayRoute', 'gatewayReport'] as const)(
    'a %s has no status subresource',
    async (key) => {
      const object = { ...fullObjects[key], status: { observedGeneration: 1 } };
      const { body } = await api.send('POST', collection(kinds[key].plural), { body: object });
      expect(body.message).toContain('unknown field "status"');
    },
  );
});

/** The object after a change that the server refused. */
function patched(object: unknown, { op, path, value }: Operation): unknown {
  const copy = structuredClone(object) as Record<string, unknown>;
  const steps = path
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/'));
  const last = steps.pop() ?? '';
  const parent = steps.reduce<Record<string, unknown>>((node, step) => node[step] as Record<string, unknown>, copy);
  if (op === 'remove' && Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (op === 'remove') delete parent[last];
  else if (Array.isArray(parent) && last === '-') parent.push(value);
  else parent[last] = value;
  return copy;
}
