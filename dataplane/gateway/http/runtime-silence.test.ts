import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { type ScriptedUpstream, startScriptedUpstream } from '../../../e2e/support/scripted-upstream.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { clientKey, ready, startGateway, type TestGateway } from '../testing/start-gateway.ts';
import { policySection, type RunningPolicy, startPolicy, termRule } from '../testing/start-policy.ts';

const stack = new AsyncDisposableStack();
/** Node's debug log names every connection that the process opens. */
const environment = { NODE_DEBUG: 'net' };
const opened = /connect: (?:attempting|find host|autodetect)/;
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let policy: RunningPolicy;

beforeAll(async () => {
  const folder = stack.use(temporaryFolder()).path;
  upstream = stack.use(await startScriptedUpstream({ kind: 'answer', content: 'fine' }));
  const mask = { type: 'mask', replacement: '***' } as const;
  const judging = policySection([termRule('deny', ['badword']), termRule('mask', ['hidden'], mask)]);
  policy = stack.use(await startPolicy(folder, 'token', { request: judging, response: judging }, { environment }));
  gateway = stack.use(await startGateway(folder, 'token'));
  gateway.routes.put(storedRoute('r', routeSpec('model', `${upstream.url}/v1`, routeGuard(policy.pin))));
  await ready(gateway);
});
afterAll(() => stack.disposeAsync());

async function chat(content: string, stream: boolean): Promise<string> {
  const answer = await fetch(`${gateway.service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'model', messages: [{ role: 'user', content }], stream }),
  });
  return answer.text();
}

verifies(
  ['gateway:events:runtime-sends-none', 'guardrail:stage:no-model-call'],
  'for no decision does the runtime open a connection: it calls no model and sends no event',
  async () => {
    for (const output of ['fine', 'badword', 'hidden']) {
      upstream.play({ kind: 'answer', content: output });
      for (const stream of [false, true]) {
        for (const input of ['hi', 'hidden', 'badword']) await chat(input, stream);
      }
    }
    upstream.play({ kind: 'answer', content: 'badword' });
    expect(await chat('hi', true)).toContain('guardrail_blocked');
    const broken = await fetch(`${policy.runtime.url}/request`, { method: 'POST', body: '{' });
    expect(broken.status).toBe(401);
    expect(upstream.seen.length).toBeGreaterThan(0);
    expect(policy.runtime.log()).toContain('NET');
    expect(policy.runtime.log()).not.toMatch(opened);

    const connecting = `require('node:net').connect(${new URL(upstream.url).port}, '127.0.0.1').on('connect', () => process.exit())`;
    const control = spawnSync(process.execPath, ['-e', connecting], { env: environment, encoding: 'utf8' });
    expect(control.stderr).toMatch(opened);
  },
);
