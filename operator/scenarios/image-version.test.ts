import { expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import type { ServedTarget } from '#contracts/served-target';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { imageMembers } from '../agents/image-members.ts';
import { sampleImage, sampleImageBundle } from '../agents/testing/sample-image.ts';
import { type AgentPlatform, agentName, reasonOf, startAgentPlatform } from '../testing/agent-platform.ts';
import { createInstantAgents } from '../testing/instant-agents.ts';
import { startTestOperator, waitFor } from '../testing/start-test-operator.ts';

const unguarded = { input: { mode: 'None' }, output: { mode: 'None' } } as const;
const image = sampleImage().spec.sdk;
const spec = { lowCode: undefined, sdk: image, guardrails: unguarded, requires: [] } as const;

/** Publishes an image with the members of a spec; the members that the sample flow has are left out. */
async function publishImage(world: AgentPlatform, name: string, change: Partial<AgentVersion['spec']> = {}) {
  return await world.publish(name, { ...spec, agent: agentName, ...change } as Partial<AgentVersion['spec']>);
}

test('an AgentVersion of an image is served, tried and rolled back like one of a flow, and its route has the card and the guardrails', async () => {
  await using world = await startAgentPlatform();
  const one = await publishImage(world, 'one');
  expect(one.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ['Ready', 'True', 'Ready'],
    ['Accepted', 'True', 'Accepted'],
    ['Tested', 'True', 'NoTests'],
    ['CardVerified', 'True', 'Verified'],
    ['ProviderReachable', 'True', 'Reachable'],
  ]);
  const publicUrl = `https://agents.example/agents/${one.status?.agentId}/versions/${one.metadata.uid}`;
  await world.agent({ version: 'one' });
  const first = await world.route('the image is routed', ({ served }) => served === one.metadata.uid);
  expect(first.spec.versions).toMatchObject([
    { versionId: one.metadata.uid, modes: ['A2A'], cardDigest: one.status?.cardDigest, guardrails: unguarded },
  ]);
  expect(first.spec.versions[0]?.sdk).toEqual({ publicUrl });
  await world.report();
  await world.settled('Ready');

  const two = await publishImage(world, 'two', { sdk: sampleImage('MCP').spec.sdk });
  await world.edit({ canary: { version: 'two', percent: 10 } });
  const trial = await world.route('two is tried', ({ canary }) => canary?.versionId === two.metadata.uid);
  expect(trial.spec.versions[1]).toMatchObject({ modes: ['MCP'], sdk: { tool: 'search' } });
  await world.report();
  await world.edit({ version: 'two', canary: undefined });
  await world.route('two is served', ({ served }) => served === two.metadata.uid);
  await world.report();
  await world.settled('Ready', ({ status }) => status?.served?.version === 'two');
  await world.edit({ version: 'one' });
  await world.route('one is served again', ({ served }) => served === one.metadata.uid);
});

test('an AgentVersion of an image whose card is not a card is refused with the member, and no process starts', async () => {
  const agents = createInstantAgents();
  await using platform = await startTestOperator({ overrides: { agents } });
  const sample = sampleImage();
  const card = JSON.stringify({ ...JSON.parse(image?.a2a?.card ?? ''), skills: [] });
  const sdk = { image: image?.image ?? '', a2a: { card } };
  await platform.client.create<AgentVersion>(kinds.agentVersion, { ...sample, spec: { ...sample.spec, sdk } });
  const { name } = sample.metadata;
  const refused = await waitFor<AgentVersion>(platform, kinds.agentVersion, name, 'it is refused', (version) => {
    return reasonOf(version, 'Accepted') === 'CardInvalid';
  });
  const accepted = refused.status?.conditions?.find(({ type }) => type === 'Accepted');
  expect(accepted?.message).toBe('skills is missing or has another form than A2A 1.0 says.');
  expect(agents.running.size).toBe(0);
});

test('an installation without a container engine refuses an AgentVersion of an image with a sentence', async () => {
  const agents = createInstantAgents('test-1', { runsImages: false });
  await using platform = await startTestOperator({ overrides: { agents } });
  const sample = sampleImage('MCP');
  await platform.client.create<AgentVersion>(kinds.agentVersion, sample);
  const { name } = sample.metadata;
  const refused = await waitFor<AgentVersion>(platform, kinds.agentVersion, name, 'it is refused', (version) => {
    return reasonOf(version) === 'ImagesNotSupported';
  });
  expect(refused.status?.conditions?.map(({ type, status }) => [type, status])).toEqual([
    ['Ready', 'False'],
    ['Accepted', 'False'],
    ['Tested', 'False'],
    ['CardVerified', 'False'],
    ['ProviderReachable', 'Unknown'],
  ]);
  expect(refused.status?.conditions?.[0]?.message).toBe(
    'This installation runs flows only. An agent of an image (spec.sdk) needs a cluster.',
  );
  expect(agents.running.size).toBe(0);
});

test('a route of an image names the target of the served policy, and has no target while another revision is served', () => {
  const bundle = sampleImageBundle('MCP');
  const target: ServedTarget = {
    addresses: ['http://runtime.team.svc:8000'],
    policyId: '01890a5d-ac96-774b-bcce-b302099a8071',
    policyRevision: '1',
    bundleDigest: digestOf('bundle'),
    contentProfile: 'ap-chat-v1',
    maxBodyBytes: 32_768,
    maxMessages: 32,
    deadlineMs: { request: 250, response: 300 },
    division: { allowed: true },
    streaming: { allowed: true },
  };
  const members = (change: Partial<ServedTarget> = {}) =>
    imageMembers(bundle, (name) => (name === 'chat' ? { ...target, ...change } : undefined));
  const { division: _, streaming: __, bundleDigest: digest, ...same } = target;
  expect(members()?.guardrails).toEqual({
    input: { mode: 'Policy', streaming: 'Windows', division: 'Pieces', digest, ...same },
    output: { mode: 'None' },
  });
  const whole = members({ streaming: { allowed: false, rule: 'r' }, division: { allowed: false, rule: 'r' } });
  expect(whole?.guardrails.input).toMatchObject({ streaming: 'Whole', division: 'Whole' });
  expect(members({ policyRevision: '2' })).toBeUndefined();
  expect(imageMembers(bundle, () => undefined)).toBeUndefined();
});
