import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { ServedTarget } from '#contracts/served-target';
import { until } from '#kit/testing/until';
import { sampleDefinition } from '../../../e2e/support/sample-policy.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { agentBundle, type BundleParts, textFlow } from '../testing/agent-bundle.ts';
import { alteredHandlers } from '../testing/altered-handlers.ts';
import { errorCodeOf, messageOf, policyName, type RunningAgent, startAgent } from '../testing/start-agent.ts';

const guardrails = { input: { name: policyName, revision: 1 }, output: 'None' } as const;
const bundle = agentBundle({ bundle: { guardrails } });
const pauses = { firstMs: 10, longestMs: 50 };

async function readiness(agent: RunningAgent) {
  const state = (await (await fetch(`${agent.adminUrl}/state`)).json()) as { problems: object[] };
  const health = await agent.call('GET', '/health/ready');
  const probe = await fetch(`${agent.adminUrl}/readyz`);
  await probe.text();
  return { problems: state.problems, health: health.status, probe: probe.status };
}

const ready = { problems: [], health: 200, probe: 200 };
const gone = { problems: [{ code: 'policy_invalid' }], health: 503, probe: 503 };
const say = (agent: RunningAgent) => agent.call('POST', '/message:send', messageOf({ text: 'hello' }));

async function changeTarget(agent: RunningAgent, change: (target: ServedTarget) => ServedTarget): Promise<void> {
  const file = String(agent.targetFile);
  const target = change(JSON.parse(await readFile(file, 'utf8')) as ServedTarget);
  await writeFile(`${file}.next`, JSON.stringify(target));
  await rename(`${file}.next`, file);
}

verifies(
  ['agents:ready:policy'],
  'a version whose policy has moved to another revision is ready while its own revision is still served, and not afterwards',
  async () => {
    const lines: string[] = [];
    await using agent = await startAgent({
      ...{ bundle, policy: sampleDefinition(), policyProbeMs: 20 },
      log: (line) => void lines.push(line),
    });
    expect(await readiness(agent)).toEqual(ready);
    await changeTarget(agent, (target) => ({ ...target, policyRevision: '2' }));
    await until('the target is refused', () => lines.some((line) => line.includes('policy_target_refused')));
    expect((await say(agent)).status).toBe(200);
    expect(await readiness(agent)).toEqual(ready);
    await agent.endRuntime();
    await until('it is not ready', async () => (await readiness(agent)).health === 503);
    expect(await readiness(agent)).toMatchObject(gone);
    expect(errorCodeOf(await say(agent))).toBe('guardrail_error');
    expect((await agent.call('GET', '/health/live')).status).toBe(200);
    await changeTarget(agent, (target) => ({ ...target, policyRevision: '1' }));
    await until('it is ready again', async () => (await readiness(agent)).health === 200);
  },
);

test('a version with an unmoved policy stays ready while the runtime of the policy does not answer', async () => {
  const lines: string[] = [];
  const options = { bundle, policy: sampleDefinition(), policyProbeMs: 20 };
  await using agent = await startAgent(options);
  await using moved = await startAgent({ ...options, log: (line) => void lines.push(line) });
  await changeTarget(moved, (target) => ({ ...target, policyRevision: '2' }));
  await until('the target is refused', () => lines.some((line) => line.includes('policy_target_refused')));
  await agent.endRuntime();
  expect(errorCodeOf(await say(agent))).toBe('guardrail_error');
  // The probes of the file place have the same interval, and two of them must fail.
  await moved.endRuntime();
  await until('a moved policy counts as gone', async () => (await readiness(moved)).health === 503);
  expect(await readiness(agent)).toEqual(ready);
});

test('a version whose policy was not served at its start is served as soon as the policy is', async () => {
  await using agent = await startAgent({
    ...{ bundle, policy: sampleDefinition(), pauses },
    target: { policyRevision: '2' },
  });
  expect(await readiness(agent)).toMatchObject(gone);
  expect((await say(agent)).status).toBe(503);
  await changeTarget(agent, (target) => ({ ...target, policyRevision: '1' }));
  await until('it is served', async () => (await say(agent)).status === 200);
  expect(await readiness(agent)).toEqual(ready);
});

test('a version whose check at the start failed once is served after the next check', async () => {
  await using parts = new AsyncDisposableStack();
  let isBroken = true;
  const checkedHandler = alteredHandlers(parts, ({ text }) => ({
    text: isBroken ? text.replace(/"tools":\[(.*)\]/, '"tools":[$1,$1]') : text,
  }));
  await using agent = await startAgent({ bundle: agentBundle(), checkedHandler, pauses });
  expect(await readiness(agent)).toMatchObject({
    problems: [{ code: 'advertised_capability_unavailable', capability: 'mcp.tool' }],
    health: 503,
  });
  isBroken = false;
  await until('it is served', async () => (await say(agent)).status === 200);
  expect(await readiness(agent)).toEqual(ready);
});

test('a version that cannot be prepared again stays alive, and is served once it can be prepared', async () => {
  const lines: string[] = [];
  await using agent = await startAgent({
    ...{ bundle, policy: sampleDefinition(), pauses, target: { policyRevision: '2' } },
    log: (line) => void lines.push(line),
  });
  const token = join(dirname(String(agent.targetFile)), '..', 'runtime.token');
  const content = await readFile(token);
  await rm(token);
  await changeTarget(agent, (target) => ({ ...target, policyRevision: '1' }));
  await until('it cannot be prepared', () => lines.filter((line) => line.includes('not_prepared')).length > 1);
  expect(await readiness(agent)).toMatchObject(gone);
  await writeFile(token, content);
  await until('it is served', async () => (await say(agent)).status === 200);
});

const publicUrl = 'http://agents.example/a';
const windowless: BundleParts = {
  flow: textFlow('m'),
  bundle: { guardrails: { input: 'None', output: guardrails.input }, requires: [{ kind: 'model', name: 'm' }] },
};

test.each([
  ['its public address', agentBundle({ bundle: { guardrails, publicUrl } }), { policyRevision: '2' }, 2],
  ['a policy that needs the whole text', agentBundle(windowless), { streaming: { allowed: false, rule: 'long' } }, 1],
] as const)('a version with a lasting problem is not checked again: %s', async (_, lasting, target, problems) => {
  const lines: string[] = [];
  await using agent = await startAgent({
    ...{ bundle: lasting, policy: sampleDefinition(), pauses, target },
    services: { modelGateway: new URL('http://127.0.0.1:9') },
    log: (line) => void lines.push(line),
  });
  const count = (): number => lines.filter((line) => line.includes('not_ready')).length;
  expect(count()).toBe(problems);
  await using other = await startAgent({
    ...{ bundle, policy: sampleDefinition(), pauses, target: { policyRevision: '2' } },
  });
  await changeTarget(other, (target) => ({ ...target, policyRevision: '1' }));
  await until('another version was checked again', async () => (await say(other)).status === 200);
  expect(count()).toBe(problems);
  expect((await readiness(agent)).health).toBe(503);
});
