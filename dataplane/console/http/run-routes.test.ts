import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { flowDigest } from '#flow/loader/load-flow';
import { chainText, flowId, flowText } from '#flow/testing/flow-text';
import { type ManagementApi, noRights } from '../clients/management-api.ts';
import type { TenantApi } from '../clients/tenant-api.ts';
import type { PageContext } from '../pages/page.ts';
import { en } from '../words/en.ts';
import type { ConsoleEnvironment } from './environment.ts';
import { addRunRoutes } from './run-routes.ts';

const id = '01900000-0000-7000-8000-000000000001';
const runPath = `/agents/${id}/versions/${id}/runs/${id}`;
const leaf = flowText();
const config = { flowId, sha256: flowDigest(leaf) ?? '', entrypoint: 'main' };
const flow = chainText([{ id: 'sub', kind: 'subflow', inputs: { question: 'x' }, config }]);
const run = {
  ...{ runId: id, versionId: id, traceId: 'a'.repeat(32), startedAt: '2026-01-31T09:00:00Z', durationMs: 2 },
  ...{ code: 'none', nodes: [{ path: 'sub', kind: 'subflow', startedMs: 0, outcome: 'ok' }], omittedNodes: 0 },
};

const record = {
  ...{ agentId: id, name: 'Desk', description: '', workspace: 'w', protocol: 'a2a', implementationType: 'low-code' },
  ...{ state: 'running', skills: [], owner: { ownerType: 'user', ownerIssuer: 'http://issuer', ownerSubject: 'ann' } },
};
const value = (value: unknown) => async () => ({ kind: 'value', value, etag: undefined });

type Person = {
  readonly subject: string;
  readonly view: boolean;
  /** The present rights of the person; by default the rights at the sign-in. */
  readonly present?: { readonly view: boolean };
  /** The answer of the management API. */
  readonly flow?: (path: string) => Promise<object>;
};

/**
 * Opens the pages of a run of ann's agent whose version has this flow. The person may view the control plane, unless
 * the test says otherwise.
 */
function open(
  source: { readonly flow: string; readonly subflows?: readonly string[] },
  shown: object = run,
  person: Person = { subject: 'bob', view: true },
) {
  const app = appOf({ call: value(shown) }, { flow: value({ name: 'answers', ...source }), ...person });
  return async (path: string): Promise<readonly [status: number, text: string]> => {
    const answer = await app.request(path);
    return [answer.status, await answer.text()];
  };
}

/** The pages over this gateway. */
function appOf(gateway: { call(path: string): Promise<object> }, { subject, view, present, flow: call }: Person) {
  const rights = { ...noRights, view };
  const session = { subject, csrf: '', rights };
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const page = { words: en, language: 'en', theme: 'auto', path: '/', here: '/', has: {}, assets: '1', session };
    context.set('page', page as unknown as PageContext);
    context.set('session', session as unknown as ConsoleEnvironment['Variables']['session']);
    context.set('management', { call, ownRights: value(present ?? rights) } as unknown as ManagementApi);
    await next();
  });
  const catalogue = { call: value(record) } as unknown as TenantApi;
  addRunRoutes(app, { apiOf: () => gateway as unknown as TenantApi, catalogueOf: () => catalogue });
  return app;
}

test('a run of a version with subflows has the graph of its flow', async () => {
  const read = open({ flow, subflows: [leaf] });
  expect((await read(runPath))[1]).toContain(`<img src="${runPath}/flow.svg"`);
  const [status, drawing] = await read(`${runPath}/flow.svg`);
  expect(status).toBe(200);
  expect(drawing).toContain('<svg');
});

test('the page of a run whose flow does not load states that there is no graph', async () => {
  const read = open({ flow });
  expect((await read(runPath))[1]).toContain(en.runPages.noGraph);
  expect((await read(`${runPath}/flow.svg`))[0]).toBe(422);
});

const { code: _, durationMs: __, ...begun } = run;

test('the page of a run that has not ended requests its state again until the run has ended', async () => {
  const polling = `hx-get="${runPath}/state?graph=1" hx-trigger="every 2s" hx-swap="outerMorph"`;
  const running = open({ flow: leaf }, { ...begun, nodes: [{ path: 'greet', kind: 'template', startedMs: 0 }] });
  expect((await running(runPath))[1]).toContain(polling);
  const [status, state] = await running(`${runPath}/state`);
  expect(status).toBe(200);
  expect(state).toMatch(/^<div hx-get=/);
  expect(state).toContain(`<img src="${runPath}/flow.svg?nodes=1-0"`);
  const ended = open({ flow: leaf });
  expect((await ended(runPath))[1]).not.toContain('hx-get');
  expect((await ended(`${runPath}/state`))[1]).not.toContain('hx-get');
});

test('a page with the graph of a run requests the run again, and not its flow', async () => {
  const asked: string[] = [];
  const flow = async (path: string) => {
    asked.push(path);
    return { kind: 'value', value: { name: 'answers', flow: leaf }, etag: undefined };
  };
  const read = open({ flow: leaf }, begun, { subject: 'bob', view: true, flow });
  const [, page] = await read(runPath);
  const [, again = ''] = /hx-get="([^"]*)"/.exec(page) ?? [];
  expect((await read(again))[1]).toContain(`<img src="${runPath}/flow.svg`);
  expect(asked).toHaveLength(1);
});

test.each([
  ['a limit of requests', { kind: 'refused', status: 429, code: 'rate_limited', message: '' }, 204, 'unanswered'],
  [
    'a service that is not ready',
    { kind: 'refused', status: 503, code: 'unavailable', message: '' },
    204,
    'unanswered',
  ],
  ['a service that does not answer', { kind: 'away' }, 204, 'unanswered'],
  ['a run that is gone', { kind: 'refused', status: 404, code: 'run_not_found', message: '' }, 200, null],
])(
  'after %s a run that has not ended keeps its last state, unless it is refused',
  async (_title, answer, status, trigger) => {
    const app = appOf({ call: async () => answer }, { subject: 'bob', view: false });
    const answered = await app.request(`${runPath}/state?graph=1`);
    expect([answered.status, answered.headers.get('hx-trigger')]).toEqual([status, trigger]);
  },
);

test('the owner of an agent sees the graph of a run without the right to view', async () => {
  const read = open({ flow: leaf }, run, { subject: 'ann', view: false });
  expect((await read(runPath))[1]).toContain(`<img src="${runPath}/flow.svg"`);
  expect((await read(`${runPath}/state`))[1]).toContain(`<img src="${runPath}/flow.svg"`);
  expect(await read(`${runPath}/flow.svg`)).toEqual([200, expect.stringContaining('<svg')]);
});

test('a part of the page of a run depends on the present rights of the person, and not on those at sign-in', async () => {
  const granted = open({ flow: leaf }, run, { subject: 'bob', view: false, present: { view: true } });
  expect((await granted(`${runPath}/state`))[1]).toContain(`<img src="${runPath}/flow.svg"`);
  const revoked = open({ flow: leaf }, run, { subject: 'bob', view: true, present: { view: false } });
  expect((await revoked(`${runPath}/state`))[1]).toContain(en.runPages.noGraph);
});

test('the console does not request the graph from the management API for a person that does not own the agent', async () => {
  const asked: string[] = [];
  const flow = async (path: string) => {
    asked.push(path);
    return { kind: 'value', value: { name: 'answers', flow: leaf }, etag: undefined };
  };
  const read = open({ flow: leaf }, run, { subject: 'bob', view: false, flow });
  expect((await read(runPath))[1]).toContain(en.runPages.noGraph);
  expect((await read(`${runPath}/flow.svg`))[0]).toBe(403);
  expect(asked).toEqual([]);
});

test('a person with the name of the owner, whom the management API refuses, sees the run without its graph', async () => {
  const refused = async () => ({ kind: 'refused', status: 403, code: 'permission_denied', message: 'No right.' });
  const read = open({ flow: leaf }, run, { subject: 'ann', view: false, flow: refused });
  const [status, page] = await read(runPath);
  expect([status, page.includes(en.runPages.noGraph)]).toEqual([200, true]);
  expect((await read(`${runPath}/flow.svg`))[0]).toBe(403);
});
