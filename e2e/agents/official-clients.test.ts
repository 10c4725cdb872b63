import { execFile } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { signCard } from '#identity/sign-card';
import type { JsonValue } from '#kit/json/json-value';
import { agentBundle, questionFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { prepareNpmPackage } from '../support/npm-package.ts';
import { preparePython } from '../support/python.ts';
import { openGatewayProxy } from './gateway-proxy.ts';
import { type AgentProcess, startAgentProcess } from './start-agent-process.ts';

const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const longest = 100;

let world: AgentProcess;
let proxy: Awaited<ReturnType<typeof openGatewayProxy>>;
/** Every test gets its own process, because the transcript names all tasks. */
beforeEach(async () => {
  proxy = await openGatewayProxy();
  const answer = { type: 'string', maxLength: longest };
  const schema = { type: 'object', properties: { answer }, required: ['answer'] };
  world = await startAgentProcess((model) =>
    agentBundle({
      flow: { ...questionFlow(model), output: { schema } },
      bundle: {
        requires: [{ kind: 'model', name: model }],
        publicUrl: proxy.publicUrl,
        limits: { requestBytes: 16_384, timeoutMs: 5_000, concurrency: 4 },
      },
    }),
  );
  proxy.connect(world.gatewayFetch);
  world.platform.upstream.play(({ text }) => {
    if (text.includes('slowly')) return { kind: 'silence' };
    return { kind: 'answer', content: text.includes('at length') ? 'long '.repeat(longest) : 'a healthy answer' };
  });
  return async () => {
    await world[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  };
});

/** Each operation of the binding, and each error that this agent has a type for. */
const transcript = [
  ['send', 'a healthy answer'],
  ['stream', ['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']],
  ['get', 'TASK_STATE_COMPLETED'],
  ['list', true],
  ['subscribe', 'task', 'TASK_STATE_FAILED', 'deadline_exceeded', true],
  ['get unknown', 'TaskNotFoundError'],
  ['cancel', 'UnsupportedOperationError'],
  ['cancel unknown', 'TaskNotFoundError'],
  ['subscribe ended', 'UnsupportedOperationError'],
  ['send to a task', 'UnsupportedOperationError'],
  ['push create', 'PushNotificationNotSupportedError'],
  ['push get', 'PushNotificationNotSupportedError'],
  ['push list', 'PushNotificationNotSupportedError'],
  ['push delete', 'PushNotificationNotSupportedError'],
  ['media type', 'ContentTypeNotSupportedError'],
  ['version', 'VersionNotSupportedError'],
  ['output', 'InvalidAgentResponseError'],
  ['extended card', 'ExtendedAgentCardNotConfiguredError'],
];

test('the official Python client of A2A completes every operation, and gets every error with its type', async (context) => {
  const python = await preparePython(at('a2a-python/requirements.txt'));
  if (!python.ok) return context.skip(python.reason);
  const { stdout } = await promisify(execFile)(python.path, [at('a2a-python/transcript.py'), proxy.publicUrl]);
  expect(JSON.parse(stdout)).toEqual(transcript);
});

type Case = { readonly $case: string; readonly value: unknown };
type Event = { readonly payload?: Case };
type Call<T> = (request: object, options?: object) => Promise<T>;
type A2aClient = {
  readonly sendMessage: Call<{ readonly parts: readonly { readonly content: Case }[] }>;
  readonly sendMessageStream: (request: object) => AsyncGenerator<Event>;
  readonly getTask: Call<{ readonly status: { readonly state: number } }>;
  readonly listTasks: Call<{ readonly tasks: readonly { readonly id: string }[] }>;
  readonly cancelTask: Call<unknown>;
  readonly resubscribeTask: (request: object) => AsyncGenerator<Event>;
  readonly createTaskPushNotificationConfig: Call<unknown>;
  readonly getTaskPushNotificationConfig: Call<unknown>;
  readonly listTaskPushNotificationConfig: Call<unknown>;
  readonly deleteTaskPushNotificationConfig: Call<unknown>;
  readonly getAgentCard: Call<unknown>;
};
type Card = { capabilities: { extendedAgentCard?: boolean; pushNotifications?: boolean } };
type A2aModule = {
  readonly ClientFactory: new (options: unknown) => { createFromAgentCard(card: Card): Promise<A2aClient> };
  readonly ClientFactoryOptions: { readonly default: unknown; createFrom(base: unknown, own: unknown): unknown };
  readonly DefaultAgentCardResolver: new (options?: {
    fetchImpl: typeof fetch;
  }) => { resolve(url: string): Promise<Card> };
  readonly RestTransportFactory: new (options?: unknown) => unknown;
};

function sendRequest(content: Case, taskId = ''): object {
  const part = { content, mediaType: content.$case === 'raw' ? 'image/png' : 'text/plain', filename: '', metadata: {} };
  const own = { messageId: 'm-1', role: 1, parts: [part], contextId: '', taskId, extensions: [], referenceTaskIds: [] };
  return { tenant: '', message: { ...own, metadata: {} }, configuration: undefined, metadata: {} };
}
const said = (value: string): Case => ({ $case: 'text', value });

/** All events of a stream, which has at least one. */
async function eventsOf(stream: AsyncGenerator<Event>): Promise<readonly [Case, ...Case[]]> {
  const events: Case[] = [];
  for await (const { payload } of stream) if (payload !== undefined) events.push(payload);
  const [first, ...more] = events;
  if (first === undefined) throw new Error('the stream has no event');
  return [first, ...more];
}

/**
 * Signs the served card as the gateway does, and verifies it with the SDK. The SDK gets the card as it was received:
 * version
 * 1.3.0 loses the security schemes of a card that its resolver has read.
 */
async function verifySignedCard(module: string, url: string): Promise<void> {
  const { verifyAgentCardSignature } = (await import(/* @vite-ignore */ pathToFileURL(module).href)) as {
    verifyAgentCardSignature(keyOf: (kid: string) => Promise<KeyObject>): (card: object) => Promise<void>;
  };
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const card = (await (await fetch(url)).json()) as Readonly<Record<string, JsonValue>>;
  const signed = { ...card, signatures: [await signCard(card, { kid: 'k-1', privateKey })] };
  const kids: string[] = [];
  const verify = verifyAgentCardSignature(async (kid) => {
    kids.push(kid);
    return publicKey;
  });
  await verify(signed);
  expect(kids).toEqual(['k-1']);
  await expect(verify({ ...signed, name: 'another' })).rejects.toThrow('No valid signatures');
  await expect(verify({ ...signed, securitySchemes: {} })).rejects.toThrow('No valid signatures');
}

test('the official JavaScript client of A2A completes every operation, and gets every error with its type', async (context) => {
  const sdk = await prepareNpmPackage('@a2a-js/sdk', '1.3.0');
  if (!sdk.ok) return context.skip(sdk.reason);
  const loaded: unknown = await import(/* @vite-ignore */ pathToFileURL(join(sdk.folder, 'dist/client/index.js')).href);
  const { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, RestTransportFactory } = loaded as A2aModule;
  const clientOf = (card: Card, fetchImpl: typeof fetch = fetch): Promise<A2aClient> => {
    const transports = [new RestTransportFactory({ fetchImpl })];
    const own = { transports, preferredTransports: ['HTTP+JSON'] };
    return new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, own)).createFromAgentCard(
      card,
    );
  };
  const card = await new DefaultAgentCardResolver().resolve(`${proxy.publicUrl}/`);
  const client = await clientOf(card);
  await verifySignedCard(join(sdk.folder, 'dist/index.js'), `${proxy.publicUrl}/.well-known/agent-card.json`);
  const ends: unknown[] = [];
  const attempt = async (operation: string, work: () => Promise<unknown>): Promise<void> => {
    const end = await work().catch((error: Error) => error.name);
    ends.push([operation, end]);
  };
  const send = async (request: object, from = client) => {
    const { parts } = await from.sendMessage(request);
    return parts[0]?.content.value;
  };

  await attempt('send', () => send(sendRequest(said('hello'))));
  const streamed = await eventsOf(client.sendMessageStream(sendRequest(said('hello'))));
  ends.push(['stream', streamed.map(({ $case }) => $case)]);
  const { id } = streamed[0].value as { id: string };
  const stateOf = async (task: string) => {
    const { status } = await client.getTask({ tenant: '', id: task });
    return status.state === 3 ? 'TASK_STATE_COMPLETED' : status.state;
  };
  await attempt('get', () => stateOf(id));
  const list = { tenant: '', contextId: '', pageToken: '' };
  await attempt('list', () => client.listTasks(list).then(({ tasks }) => tasks.length === 1 && tasks[0]?.id === id));

  const live = client.sendMessageStream(sendRequest(said('slowly')));
  const first = (await live.next()).value as { readonly payload: { readonly value: { readonly id: string } } };
  const task = first.payload.value.id;
  const [seen, followed] = await Promise.all([
    eventsOf(live),
    eventsOf(client.resubscribeTask({ tenant: '', id: task })),
  ]);
  const { status } = (followed.at(-1) ?? followed[0]).value as {
    status: { state: number; message: { parts: { content: { value: { code: string } } }[] } };
  };
  const state = status.state === 4 ? 'TASK_STATE_FAILED' : status.state;
  const same = JSON.stringify(seen.at(-1)) === JSON.stringify(followed.at(-1));
  ends.push(['subscribe', followed[0].$case, state, status.message.parts[0]?.content.value.code, same]);

  await attempt('get unknown', () => stateOf('unknown'));
  await attempt('cancel', () => client.cancelTask({ tenant: '', id }));
  await attempt('cancel unknown', () => client.cancelTask({ tenant: '', id: 'unknown' }));
  await attempt('subscribe ended', () => eventsOf(client.resubscribeTask({ tenant: '', id })));
  await attempt('send to a task', () => send(sendRequest(said('hello'), id)));
  // The client sends these requests only to an agent whose card declares them.
  const pushing = await clientOf({ ...card, capabilities: { ...card.capabilities, pushNotifications: true } });
  const config = { tenant: '', taskId: id, id: 'one', url: 'https://hook.example', token: '' };
  await attempt('push create', () => pushing.createTaskPushNotificationConfig(config));
  await attempt('push get', () => pushing.getTaskPushNotificationConfig(config));
  await attempt('push list', () => pushing.listTaskPushNotificationConfig({ tenant: '', taskId: id, pageToken: '' }));
  await attempt('push delete', () => pushing.deleteTaskPushNotificationConfig(config));
  await attempt('media type', () => send(sendRequest({ $case: 'raw', value: Buffer.from('x') })));
  const old: typeof fetch = (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('a2a-version', '0.9');
    return fetch(input, { ...init, headers });
  };
  await attempt('version', async () => send(sendRequest(said('hello')), await clientOf(card, old)));
  await attempt('output', () => send(sendRequest(said('at length'))));
  // The client requests an extended card only from an agent whose card declares one.
  const extended = await clientOf({ ...card, capabilities: { ...card.capabilities, extendedAgentCard: true } });
  await attempt('extended card', () => extended.getAgentCard({}));
  expect(ends).toEqual(transcript);
});
