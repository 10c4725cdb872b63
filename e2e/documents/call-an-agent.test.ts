import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { runToEnd } from '#kit/testing/run-to-end';
import { answers, type ScriptedHttp } from '#kit/testing/scripted-http';
import {
  type AgentPlaneWorld,
  agentId,
  routedVersion,
  startAgentPlane,
} from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { root } from '../../hack/check/run-tool.ts';
import { readBlocks } from '../readme/read-blocks.ts';
import { preparePython } from '../support/python.ts';

const question = 'What is our travel policy?';
const answer = { message: { messageId: 'm-2', role: 'ROLE_AGENT', parts: [{ text: 'Book early.' }] } };
const card = { name: 'question' };
const blocks = readBlocks(readFileSync(join(root, 'docs/call-an-agent.md'), 'utf8'));
let world: AgentPlaneWorld;
let process: ScriptedHttp;
let environment: Record<string, string>;

beforeAll(async () => {
  world = await startAgentPlane();
  world.allow('ann', 'invoke');
  process = await world.startProcess((response, request) =>
    answers(request.path.endsWith('agent-card.json') ? card : answer)(response, request),
  );
  const requires = [{ kind: 'Model' as const, name: 'small' }];
  await world.serve({ versions: [routedVersion(process, { modes: ['A2A'], cardDigest: digestOf(card), requires })] });
  environment = { GATEWAY: world.url, AGENT: agentId, TOKEN: await world.personToken('ann') };
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => process.forget());

/** The only block of the page with this label and word. */
function block(label: string, word: string): string {
  const found = blocks.filter((one) => one.label === label && one.text.includes(word));
  expect(found).toHaveLength(1);
  return found[0]?.text ?? '';
}

async function output(program: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(program, args, {
    environment: { ...globalThis.process.env, ...environment },
  });
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** The texts of the messages that the process has received. */
const asked = () =>
  process.seen
    .filter(({ path }) => path === '/message:send')
    .map(({ text }) => (JSON.parse(text) as { message: { parts: unknown } }).message.parts);

test('the command of the page "Call an agent" gets the answer of the agent', async () => {
  expect(JSON.parse(await output('sh', ['-c', block('sh', 'message:send')]))).toEqual(answer);
  expect(asked()).toEqual([[{ text: question }]]);
});

test('the TypeScript of the page "Call an agent" gets the answer of the agent, and names the code of a refusal', async () => {
  const program = [
    'const { GATEWAY: gateway, AGENT: agentId, TOKEN: token } = process.env;',
    block('ts', 'message:send'),
    'console.log(await answer.text());',
  ].join('\n');
  const run = ['--input-type=module-typescript', '--eval', program];
  expect(JSON.parse(await output(globalThis.process.execPath, run))).toEqual(answer);
  expect(asked()).toEqual([[{ text: question }]]);
  const refused = await runToEnd(globalThis.process.execPath, run, {
    environment: { ...globalThis.process.env, ...environment, TOKEN: 'none' },
  });
  expect(refused.stderr).toContain('Error: unauthenticated');
});

test('the Python of the page "Call an agent" gets the answer of the agent', async (context) => {
  const python = await preparePython(join(root, 'e2e/agents/a2a-python/requirements.txt'));
  if (!python.ok) return context.skip(python.reason);
  const program = [
    'import os',
    'gateway, agent_id, token = (os.environ[name] for name in ("GATEWAY", "AGENT", "TOKEN"))',
    block('python', 'message:send'),
    'print(answer.text)',
  ].join('\n');
  expect(JSON.parse(await output(python.path, ['-c', program]))).toEqual(answer);
  expect(asked()).toEqual([[{ text: question }]]);
});

test('the exchange of a grant on the page "Call an agent" gets a token of at most 60 s for models', async () => {
  await output('sh', ['-c', block('sh', 'message:send')]);
  environment['GRANT'] = String(process.seen.at(-1)?.headers['x-portcullis-run-grant']);
  const issued = JSON.parse(await output('sh', ['-c', block('sh', '/token')]));
  expect(issued).toMatchObject({ token_type: 'Bearer', access_token: expect.any(String) });
  expect(issued.expires_in).toBeLessThanOrEqual(60);
});
