import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTrace } from '#kit/http/trace-context';
import { answers, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { createAgentPort } from './agent-port.ts';

let gateway: ScriptedHttp;
beforeAll(async () => {
  gateway = await startScriptedHttp(answers({}));
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** The code with which a call ends when the called agent answers with this code. */
async function codeOf(code: string, status: number): Promise<unknown> {
  gateway.play(answers({ error: { code: status, details: [{ metadata: { code, traceId: 't' } }] } }, status));
  const port = createAgentPort({ url: new URL(gateway.url), identity: () => async () => ({}) });
  const { signal } = new AbortController();
  const call = {
    signal,
    runId: 'r',
    traceId: 't',
    trace: openTrace(undefined),
    caller: 'n',
    path: 'n',
    attempt: 1,
    context: {},
  };
  return await port({ agentId: 'helper', text: 'hello' }, call).then(
    () => 'none',
    (error: { readonly code: unknown }) => error.code,
  );
}

test.each([
  ['guardrail_denied', 403, 'guardrail_denied'],
  ['forbidden', 403, 'forbidden'],
  ['output_invalid', 502, 'answer_invalid'],
  ['flow_failed', 500, 'refused'],
  ['budget_exceeded', 429, 'refused'],
  ['too_many_runs', 429, 'rate_limited'],
  ['deadline_exceeded', 504, 'refused'],
  ['internal', 500, 'refused'],
  ['agent_unavailable', 503, 'unavailable'],
])('a call whose agent ends with %s and status %i ends as %s', async (code, status, expected) => {
  expect(await codeOf(code, status)).toBe(expected);
});
