import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { answers, type Script, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { filteredTarget, shownTargetNames, targetIdOf } from './target-names.ts';

const idOf = (number: number): string => `01890a5d-ac96-774b-bcce-b302099a800${number}`;
const object = (kind: string, name: string, number: number, spec: object = {}) => ({
  kind,
  metadata: {
    ...{ name, uid: `uid-${number}`, generation: 1, creationTimestamp: '2026-01-31T00:00:00Z' },
    labels: { 'portcullis.dev/id': idOf(number) },
  },
  spec,
});
const binding = (name: string, alias: string, number: number) =>
  object('ModelBinding', name, number, { model: { alias } });
const kindLists = {
  guardrailpolicies: [
    ...[object('GuardrailPolicy', 'guard', 1), object('GuardrailPolicy', 'shared', 2)],
    object('GuardrailPolicy', idOf(1), 8),
    ...[object('GuardrailPolicy', 'prod-guard', 6), object('GuardrailPolicy', 'zz-test', 6)],
  ],
  modelbindings: [
    ...[binding('chat', 'chat-large', 3), binding('small', 'chat', 4), binding('shared', 'shared', 5)],
    ...[binding('twin-1', 'one', 7), binding('twin-2', 'two', 7), binding('like-a-policy', 'like:1', 1)],
    ...[binding('east', 'everywhere', 8), binding('west', 'everywhere', 9)],
  ],
};

const agents = { items: [{ name: 'desk', agentId: 'agent-1', state: 'ready', served: null, summary: '' }] };
const aPolicy = { type: 'policy', id: idOf(1) };
const ownRights = { view: true, author: false, apply: false, administer: false, policies: [], models: [] };

const withNames: Script = (response, request) => {
  if (request.path === '/api/v1/own-rights') return answers(ownRights)(response, request);
  if (request.path === '/api/v1/agents') return answers(agents)(response, request);
  const plural = /resources\/(\w+)/.exec(request.path)?.[1] as keyof typeof kindLists | undefined;
  const discovered = { namespace: 'default', kinds: Object.keys(kindLists) };
  const body = plural === undefined ? discovered : { items: kindLists[plural], continue: null };
  return answers(body)(response, request);
};

let api: ScriptedHttp;
beforeAll(async () => {
  api = await startScriptedHttp(withNames);
});
beforeEach(() => api.play(withNames));
afterAll(() => api[Symbol.asyncDispose]());

const connection = () => ({ origin: api.url, token: async () => 'a.b.c', timeoutMs: 5_000 });

test('a policy is found by its resource, a model by its resource or its alias, and an id is not looked up', async () => {
  expect(await targetIdOf(connection(), 'policy', 'guard')).toBe(idOf(1));
  expect(await targetIdOf(connection(), 'model', 'small')).toBe(idOf(4));
  expect(await targetIdOf(connection(), 'model', 'chat-large')).toBe(idOf(3));
  api.forget();
  expect(await targetIdOf(connection(), 'model', idOf(0))).toBe(idOf(0));
  expect(api.seen).toEqual([]);
});

test('a word that is the name or alias of two models is refused with both ids', async () => {
  await expect(targetIdOf(connection(), 'model', 'chat')).rejects.toMatchObject({
    exit: 'usage',
    message: `chat is the name or alias of 2 models: give an id, ${idOf(3)} or ${idOf(4)}.`,
  });
  // An alias is unique only within one gateway.
  await expect(targetIdOf(connection(), 'model', 'everywhere')).rejects.toMatchObject({
    message: `everywhere is the name or alias of 2 models: give an id, ${idOf(8)} or ${idOf(9)}.`,
  });
  expect(await targetIdOf(connection(), 'model', 'shared')).toBe(idOf(5));
});

test('an id that two objects have is not shown as the name of either, and neither name nor alias is resolved to it', async () => {
  const shared = { exit: 'usage', message: expect.stringContaining(idOf(6)) };
  await expect(targetIdOf(connection(), 'policy', 'zz-test')).rejects.toMatchObject(shared);
  await expect(targetIdOf(connection(), 'policy', 'prod-guard')).rejects.toMatchObject(shared);
  await expect(filteredTarget(connection(), 'zz-test')).rejects.toMatchObject(shared);
  await expect(targetIdOf(connection(), 'model', 'two')).rejects.toMatchObject({ exit: 'usage' });
  const nameOf = await shownTargetNames(connection(), 'text', [aPolicy]);
  expect([nameOf('policy', idOf(6)), nameOf('model', idOf(7))]).toEqual([idOf(6), idOf(7)]);
  // The name of this policy equals the id of another policy.
  expect(nameOf('policy', idOf(8))).toBe(idOf(8));
  // A policy and a model may have the same id: each is shown by its own name.
  expect([nameOf('policy', idOf(1)), nameOf('model', idOf(1))]).toEqual(['guard', 'like-a-policy']);
});

test('an agent is shown by its name, and a filter accepts its name', async () => {
  const nameOf = await shownTargetNames(connection(), 'text', [{ type: 'agent', id: 'agent-1' }]);
  expect([nameOf('agent', 'agent-1'), nameOf('agent', 'agent-2')]).toEqual(['desk', 'agent-2']);
  expect(await filteredTarget(connection(), 'desk')).toEqual({ id: 'agent-1', doubt: '' });
});

test('policies and models keep their names if the agents cannot be read', async () => {
  api.play((response, request) =>
    request.path === '/api/v1/agents' ? answers({}, 503)(response, request) : withNames(response, request),
  );
  const nameOf = await shownTargetNames(connection(), 'text', [aPolicy]);
  expect([nameOf('policy', idOf(1)), nameOf('agent', 'agent-1')]).toEqual(['guard', 'agent-1']);
});

test('a filter finds policies and models, refuses a word that is both, and accepts any other word with a warning', async () => {
  expect(await filteredTarget(connection(), 'guard')).toEqual({ id: idOf(1), doubt: '' });
  await expect(filteredTarget(connection(), 'shared')).rejects.toMatchObject({ exit: 'usage' });
  expect(await filteredTarget(connection(), 'guard-1')).toMatchObject({ id: 'guard-1', doubt: expect.any(String) });
  expect((await filteredTarget(connection(), 'unheard-of')).doubt).toBe(
    ' There is no policy, model or agent "unheard-of". "portcullis get all" lists the names.',
  );
});

test('a filter passes on the id of another object without a look-up, and any word if the names may not be read', async () => {
  expect(await filteredTarget(connection(), 'like:1')).toEqual({ id: idOf(1), doubt: '' });
  api.forget();
  const object = 'control_plane:control-plane#administer@user:ann';
  expect(await filteredTarget(connection(), object)).toEqual({ id: object, doubt: '' });
  expect(api.seen).toEqual([]);
  const refusal = { code: 'permission_denied', message: 'refused', traceId: '0'.repeat(32), details: [] };
  api.play(answers({ error: refusal }, 403));
  expect(await filteredTarget(connection(), 'guard')).toEqual({ id: 'guard', doubt: '' });
  api.play(answers({ error: { ...refusal, code: 'rate_limited' } }, 429));
  await expect(filteredTarget(connection(), 'guard')).rejects.toMatchObject({ status: 429 });
});

test('a table has names of policies and models, ids of other objects, and ids of all without an answer', async () => {
  const nameOf = await shownTargetNames(connection(), 'text', [aPolicy]);
  expect([nameOf('policy', idOf(1)), nameOf('model', idOf(3)), nameOf('model', idOf(0))]).toEqual([
    'guard',
    'chat',
    idOf(0),
  ]);
  expect(nameOf('collection', idOf(1))).toBe(idOf(1));
  api.play(answers({ error: {} }, 403));
  const unknown = await shownTargetNames(connection(), 'text', [aPolicy]);
  expect(unknown('policy', idOf(1))).toBe(idOf(1));
});

test('names for a table are read only for policies and models, by a caller that may read them and has a token', async () => {
  const pathsFor = async (shown: readonly { readonly type: string; readonly id: string }[], token = 'a.b.c') => {
    api.forget();
    const nameOf = await shownTargetNames({ ...connection(), token: async () => token }, 'text', shown);
    expect(nameOf('policy', idOf(2))).toBe(api.seen.length > 1 ? 'shared' : idOf(2));
    return api.seen.map(({ path }) => path.split('?')[0]);
  };
  expect(await pathsFor([])).toEqual([]);
  expect(await pathsFor([{ type: 'collection', id: idOf(1) }])).toEqual([]);
  expect(await pathsFor([aPolicy], 'emergency-credential')).toEqual([]);
  expect((await pathsFor([{ type: 'model', id: idOf(3) }])).length).toBe(4);
  api.play(answers({ ...ownRights, view: false }));
  expect(await pathsFor([aPolicy])).toEqual(['/api/v1/own-rights']);
  expect(await filteredTarget(connection(), 'guard')).toEqual({ id: 'guard', doubt: '' });
});
