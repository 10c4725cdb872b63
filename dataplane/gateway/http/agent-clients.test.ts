import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mintModelToken } from '#identity/model-token';
import { mintRunGrant } from '#identity/run-grant';
import { createTestKey, type TestKey } from '#identity/testing/test-issuer';
import { mintWorkloadToken } from '#identity/workload-token';
import { createFakeClock } from '#kit/testing/fake-clock';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { clientKey } from '../testing/start-gateway.ts';
import { says, startWorld, type World } from '../testing/start-world.ts';

const issuer = 'https://gateway.example';
const call = {
  agentId: 'agent-1',
  versionId: 'version-1',
  subject: { issuer: 'https://people.example', subject: 'ann' },
  actors: [],
};

const folder = temporaryFolder();
const keysFile = join(folder.path, 'agents.jwks');
let key: TestKey;
let world: World;
beforeAll(async () => {
  key = await createTestKey('EdDSA', 'gateway');
  await publish();
  world = await startWorld({ agents: { issuer, keysFile } });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const publish = () => writeFile(keysFile, JSON.stringify({ keys: [key.jwk] }));
type MintOptions = Partial<Parameters<typeof mintModelToken>[0]>;
const mint = (more: MintOptions = {}) => mintModelToken({ ...call, key, issuer, aliases: ['model', 'gone'], ...more });

/** The status and the code of an answer, and how many requests the provider got for it. */
async function ask(bearer: string, model = 'model', path = '/v1/chat/completions') {
  const before = world.upstream.seen.length;
  const body = path.endsWith('embeddings') ? { model, input: 'hi' } : { ...says('hi'), model };
  const answer = await world.post(path, body, { authorization: `Bearer ${bearer}` });
  const { error } = (await answer.json()) as { error?: { code: string } };
  return [answer.status, error?.code, world.upstream.seen.length - before];
}

test('an agent can call the models that its token names, and no others', async () => {
  const token = await mint();
  expect(await ask(token)).toEqual([200, undefined, 1]);
  expect(await ask(token, 'open')).toEqual([403, 'model_forbidden', 0]);
  expect(await ask(token, 'open', '/v1/embeddings')).toEqual([403, 'model_forbidden', 0]);
  expect(await ask(await mint({ aliases: [] }))).toEqual([403, 'model_forbidden', 0]);
});

test('a model that a token does not name is refused in the same way whether it exists or not', async () => {
  const token = await mint();
  expect(await ask(token, 'absent')).toEqual([403, 'model_forbidden', 0]);
  expect(await ask(token, 'gone')).toEqual([404, 'model_not_found', 0]);
});

test('the list of models contains only those that the agent token names', async () => {
  const list = async (bearer: string) => {
    const headers = { authorization: `Bearer ${bearer}` };
    const answer = await fetch(`${world.gateway.service.url}/v1/models`, { headers });
    return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  expect(await list(await mint())).toEqual(['model']);
  const one = async (alias: string) => {
    const headers = { authorization: `Bearer ${await mint()}` };
    return (await fetch(`${world.gateway.service.url}/v1/models/${alias}`, { headers })).status;
  };
  expect([await one('model'), await one('open'), await one('absent')]).toEqual([200, 404, 404]);
  expect(await list(clientKey)).toEqual(['model', 'open', 'whole']);
});

test('the official OpenAI client works with the token of an agent, and raises an error for a refused model', async () => {
  const client = new OpenAI({ apiKey: await mint(), baseURL: `${world.gateway.service.url}/v1`, maxRetries: 0 });
  const messages = [{ role: 'user', content: 'hi' }] as const;
  const answer = await client.chat.completions.create({ model: 'model', messages: [...messages] });
  expect(answer.choices[0]?.message.content).toBe('fine');
  await expect(client.chat.completions.create({ model: 'open', messages: [...messages] })).rejects.toMatchObject({
    status: 403,
    code: 'model_forbidden',
    type: 'permission_error',
  });
});

test('a gateway that accepts tokens of agents also accepts client keys, and no other bearer token', async () => {
  expect(await ask(clientKey, 'open')).toEqual([200, undefined, 1]);
  const past = createFakeClock(new Date(Date.now() - 120_000));
  const budget = { nodes: 1, modelTokens: 1, outputBytes: 1 };
  const refused = [
    'wrong',
    'a.b.c',
    await mint({ issuer: 'https://other.example' }),
    await mint({ key: await createTestKey('EdDSA', 'gateway') }),
    await mint({ clock: past }),
    await mintWorkloadToken({ ...call, key, issuer, operation: 'message:send' }),
    await mintRunGrant({ ...call, key, issuer, runId: 'run', mode: 'A2A', budget, timeoutMs: 60_000 }),
  ];
  for (const bearer of refused) expect(await ask(bearer)).toEqual([401, 'unauthenticated', 0]);
});

test('the gateway logs no token of an agent', async () => {
  const token = await mint();
  await ask(token);
  await ask(`${token}x`);
  expect(world.gateway.log()).not.toContain(token.split('.')[2]);
});

test('while the keys for tokens of agents cannot be read, these are refused with 503 and client keys are accepted', async () => {
  await rm(keysFile);
  const token = await mint();
  await until('the keys are away', async () => (await ask(token))[1] === 'identity_unavailable');
  expect(await ask(token)).toEqual([503, 'identity_unavailable', 0]);
  expect(await ask(clientKey)).toEqual([200, undefined, 1]);
  await publish();
  await until('the keys are back', async () => (await ask(await mint()))[0] === 200);
});

test('the token of an agent names at most 100 models', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `m${at}`);
  expect(await ask(await mint({ aliases: [...names(99), 'model'] }))).toEqual([200, undefined, 1]);
  await expect(mint({ aliases: names(101) })).rejects.toMatchObject({ code: 'claims_invalid' });
});
