import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { until } from '#kit/testing/until';
import { sampleImage, sampleImageBundle } from '../../testing/sample-image.ts';
import { makeAgentDeployment, makeAgentNetworkPolicy } from './resources/agent-objects.ts';
import { type AgentCluster, openAgentCluster, testAgentTemplate } from './testing/agent-cluster.ts';

const name = 'a-0123456789abcdef0123';
const unguarded = { input: { mode: 'None' }, output: { mode: 'None' } } as const;
const bundle = sampleImageBundle('A2A', { guardrails: unguarded });
const request = { name, resource: 'helper-1', bundle };
const card = JSON.parse(sampleImage().spec.sdk?.a2a?.card ?? '') as Record<string, unknown>;

async function open(): Promise<AgentCluster> {
  const place = await openAgentCluster();
  onTestFinished(() => place[Symbol.asyncDispose]());
  return place;
}

/** Requests the image and runs its process, which answers its paths as given. */
async function run(place: AgentCluster, paths: Readonly<Record<string, unknown>>, wanted = request): Promise<void> {
  place.agents.ensure(wanted);
  await until('the pod may start', () => place.server.object('deployments', name));
  place.serve(paths);
  await place.runPod(name);
}

test('the Deployment and the NetworkPolicy of an image equal their golden files', async () => {
  const objects = {
    'image-deployment': makeAgentDeployment(request, testAgentTemplate),
    'image-network-policy': makeAgentNetworkPolicy(request, testAgentTemplate),
  };
  for (const [file, object] of Object.entries(objects)) {
    await expect(stringify(object)).toMatchFileSnapshot(`./testdata/${file}.yaml`);
  }
});

test('the pod of an image has no secret, no volume of the platform and no label that gives access to runtimes, whatever the environment says', () => {
  const template = { ...testAgentTemplate, labels: { ...testAgentTemplate.runtimeClient, team: 'invoices' } };
  const { metadata, spec } = makeAgentDeployment(request, template).spec.template;
  expect(Object.keys(metadata.labels)).not.toContain('portcullis.dev/runtime-client');
  expect(metadata.labels).toMatchObject({ team: 'invoices' });
  expect(spec.volumes.map((volume) => Object.keys(volume))).toEqual([['name', 'emptyDir']]);
  expect(JSON.stringify(spec)).not.toMatch(/"secret"|_TOKEN_FILE/);
  const { egress } = makeAgentNetworkPolicy(request, template).spec;
  expect(JSON.stringify(egress)).not.toMatch(/portcullis-runtime|retrieval|memory/);
});

test('an image is ready when its process is ready and its card has the content of the resource, whatever else the card contains', async () => {
  const place = await open();
  const foreign = {
    ...card,
    signatures: [{ protected: 'e30', signature: 'x' }],
    supportedInterfaces: [{ url: 'https://elsewhere.example', protocolBinding: 'GRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: true },
  };
  await run(place, { '/health/ready': {}, '/.well-known/agent-card.json': foreign });
  const observed = await until('it is ready', () => {
    const seen = place.agents.observe(name);
    return seen?.state?.ready === true ? seen : undefined;
  });
  const { versionId, digest, cardDigest } = bundle;
  expect(observed).toMatchObject({ card: 'verified', state: { versionId, digest, cardDigest, runs: 0 } });
  expect(observed.address).toBe(`http://${name}.team.svc:8080`);
});

test.each<[string, Readonly<Record<string, unknown>>, object]>([
  ['is not ready', {}, { state: { ready: false, problems: [{ code: 'starting' }] } }],
  ['serves no card', { '/health/ready': {} }, { state: { ready: true }, card: 'unread' }],
  [
    'serves another card',
    { '/health/ready': {}, '/.well-known/agent-card.json': { ...card, name: 'Other' } },
    { state: { ready: true }, card: 'differs' },
  ],
  [
    'serves no valid card',
    { '/health/ready': {}, '/.well-known/agent-card.json': { name: 'Helper' } },
    { state: { ready: true }, card: 'differs' },
  ],
  [
    'serves a card with half of a surrogate pair',
    { '/health/ready': {}, '/.well-known/agent-card.json': { ...card, description: '\ud800' } },
    { state: { ready: true }, card: 'unread' },
  ],
  [
    'serves a card of more values than a card can have',
    { '/health/ready': {}, '/.well-known/agent-card.json': { ...card, more: Array(100_001).fill(0) } },
    { state: { ready: true }, card: 'unread' },
  ],
])('the operator reports that the process of an image %s', async (_title, paths, seen) => {
  const place = await open();
  await run(place, paths);
  await until('it is seen', () => place.agents.observe(name)?.state);
  expect(place.agents.observe(name)).toMatchObject(seen);
});

test('an image for MCP is ready only when its process lists the tool of the resource', async () => {
  const place = await open();
  const tool = sampleImageBundle('MCP', { guardrails: unguarded });
  await run(
    place,
    { '/health/ready': {}, '/.well-known/mcp-tools.json': { tools: [{ name: 'other' }] } },
    {
      ...request,
      bundle: tool,
    },
  );
  const { state } = await until('it is seen', () => {
    const seen = place.agents.observe(name);
    return seen?.state === undefined ? undefined : seen;
  });
  expect(state).toMatchObject({ ready: false, problems: [{ code: 'advertised_capability_unavailable' }] });
  place.serve({ '/health/ready': {}, '/.well-known/mcp-tools.json': { tools: [{ name: 'search' }] } });
  await until('it is ready', () => place.agents.observe(name)?.state?.ready);
  expect(place.agents.observe(name)).toMatchObject({ card: 'none' });
});
