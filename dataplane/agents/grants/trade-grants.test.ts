import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PortCall } from '#flow/engine/ports';
import { openTrace } from '#kit/http/trace-context';
import { answers, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { RunGrants } from './run-grants.ts';
import { createRunTokens, type RunTokens } from './trade-grants.ts';

const models = 'urn:portcullis:models';
const issued = (token: string) => answers({ access_token: token, token_type: 'Bearer', expires_in: 60 });
const call = (runId = 'run'): PortCall => ({
  signal: new AbortController().signal,
  runId,
  traceId: 'trace',
  trace: openTrace(undefined),
  caller: 'node',
  path: 'ask',
  attempt: 1,
  context: {},
});

let gateway: ScriptedHttp;
let tokens: RunTokens;
beforeAll(async () => {
  gateway = await startScriptedHttp(issued('one'));
  const grants = new RunGrants();
  grants.start('run', 'the-grant');
  tokens = createRunTokens(new URL(gateway.url), grants);
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.forget());

test('each call of a run exchanges its grant again', async () => {
  gateway.play(issued('one'));
  expect(await tokens.tokenFor(call(), models)).toBe('one');
  gateway.play(issued('two'));
  expect(await tokens.tokenFor(call(), models)).toBe('two');
  const sent = gateway.seen.map(({ text }) => new URLSearchParams(text));
  expect(sent.map((form) => [form.get('subject_token'), form.get('audience')])).toEqual([
    ['the-grant', models],
    ['the-grant', models],
  ]);
});

test.each([
  ['invalid_grant', 400, 'grant_ended'],
  ['invalid_target', 400, 'forbidden'],
  ['invalid_request', 400, 'forbidden'],
  ['temporarily_unavailable', 503, 'unavailable'],
  ['invalid_grant', 500, 'unavailable'],
  ['other', 400, 'unavailable'],
])('a token exchange refused with %s and status %i ends the call as %s', async (error, status, code) => {
  gateway.play(answers({ error }, status));
  await expect(tokens.tokenFor(call(), models)).rejects.toMatchObject({ code });
});

const limited = answers({ error: 'temporarily_unavailable' }, 429, { 'retry-after': '0' });

test('a run that exceeds its rate of token requests repeats the request once', async () => {
  gateway.play((response, request) => {
    gateway.play(issued('later'));
    return limited(response, request);
  });
  expect(await tokens.tokenFor(call(), models)).toBe('later');
  expect(gateway.seen.length).toBe(2);
  gateway.play(limited);
  await expect(tokens.tokenFor(call(), models)).rejects.toMatchObject({ code: 'unavailable' });
  expect(gateway.seen.length).toBe(4);
});

test('a run that ends while it waits for its next token sends no further request', async () => {
  gateway.play(answers({ error: 'temporarily_unavailable' }, 429, { 'retry-after': '60' }));
  const stop = new AbortController();
  const token = tokens.tokenFor({ ...call(), signal: stop.signal }, models);
  await until('the first trade is refused', () => gateway.seen.length === 1);
  stop.abort(new Error('the run has ended'));
  await expect(token).rejects.toThrow('the run has ended');
  expect(gateway.seen.length).toBe(1);
});

test('a run without a grant gets no token and sends no request', async () => {
  await expect(tokens.tokenFor(call('other'), models)).rejects.toMatchObject({ code: 'forbidden' });
  expect(gateway.seen).toEqual([]);
});
