import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { flowDigest } from '#flow/loader/load-flow';
import { chainText, flowId, flowText } from '#flow/testing/flow-text';
import type { ManagementApi } from '../clients/management-api.ts';
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

/** The pages of a run whose version has this flow, for a person who may view the control plane. */
function open(source: { readonly flow: string; readonly subflows?: readonly string[] }, shown: object = run) {
  const rights = { view: true, author: false, apply: false, administer: false, policies: [], models: [] };
  const session = { subject: 'ann', csrf: '', rights };
  const value = (value: unknown) => async () => ({ kind: 'value', value, etag: undefined });
  const app = new Hono<ConsoleEnvironment>();
  app.use(async (context, next) => {
    const page = { words: en, language: 'en', theme: 'auto', path: '/', here: '/', has: {}, assets: '1', session };
    context.set('page', page as unknown as PageContext);
    context.set('session', session as unknown as ConsoleEnvironment['Variables']['session']);
    context.set('management', { call: value({ name: 'answers', ...source }) } as unknown as ManagementApi);
    await next();
  });
  addRunRoutes(app, { apiOf: () => ({ call: value(shown) }) as unknown as TenantApi });
  return async (path: string): Promise<readonly [status: number, text: string]> => {
    const answer = await app.request(path);
    return [answer.status, await answer.text()];
  };
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

test('the page of a run that has not ended asks for its state every second until the run has ended', async () => {
  const { code: _, durationMs: __, ...begun } = run;
  const polling = `hx-get="${runPath}/state" hx-trigger="every 1s" hx-swap="outerHTML"`;
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
