import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkProviderProblem, providerCauses } from '#contracts/provider-causes';
import { unusedPort } from '#kit/testing/loopback';
import { answers, type Script, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { bundle, classifier, detector, policy, providersAt, section } from '../../testing/build-bundle.ts';
import { allow } from '../../testing/provider-answers.ts';
import { startRuntime, type TestRuntime } from '../../testing/start-runtime.ts';

const failures = 'portcullis_runtime_provider_failures_total';
const secretText = 'a text that no log names';

let provider: ScriptedHttp;
beforeAll(async () => {
  provider = await startScriptedHttp(allow);
});
afterAll(() => provider[Symbol.asyncDispose]());

/** A runtime whose requests are checked by a detector and whose responses by a classifier at this address. */
function runtimeAt(url: string, now: () => number = () => performance.now()): Promise<TestRuntime> {
  const remote = policy(section([detector('detector')]), section([classifier('classifier')]));
  return startRuntime(bundle([remote], { providers: providersAt(url) }), { clock: { now, date: () => new Date(0) } });
}

type LogLine = { readonly event?: string; readonly provider?: string; readonly cause?: string };

function changesIn(log: string): readonly LogLine[] {
  const lines = log.split('\n').filter((line) => line.includes('check_provider_'));
  return lines.map((line) => JSON.parse(line) as LogLine);
}

async function expectCause(runtime: TestRuntime, name: 'detector' | 'classifier', cause: string): Promise<void> {
  const stage = name === 'detector' ? 'request' : 'response';
  const told = await runtime.check(stage, [secretText], { 'x-portcullis-explain': 'rule' });
  expect(told.status).toBe(503);
  expect(told.headers).toMatchObject({
    'x-portcullis-rule': name,
    'x-portcullis-provider': name,
    'x-portcullis-cause': cause,
  });
  expect(await runtime.metric(failures, { provider: name, cause })).toBe(1);
  expect(changesIn(runtime.log()).at(-1)).toMatchObject({ provider: name, cause });
  expect(runtime.log()).not.toContain(secretText);
}

describe('the cause of a failed call', () => {
  test.each([
    ['an unknown host', () => 'http://no-such-host.invalid', 'name_not_found'],
    ['a port without a server', async () => `http://127.0.0.1:${await unusedPort()}`, 'refused'],
    ['a server without TLS', () => provider.url.replace('http:', 'https:'), 'tls'],
  ])('%s is named in log and metric', async (_title, url, cause) => {
    await using runtime = await runtimeAt(await url());
    await expectCause(runtime, 'detector', cause);
  });

  test.each<[string, 'detector' | 'classifier', Script, string]>([
    ['status 401', 'detector', answers({}, 401), 'credential_refused'],
    ['status 403', 'classifier', answers({}, 403), 'credential_refused'],
    ['status 404', 'detector', answers({}, 404), 'not_found'],
    ['an unknown path', 'classifier', answers({ error: { code: 'no_route' } }, 404), 'not_found'],
    ['an unknown model', 'classifier', answers({ error: { code: 'model_not_found' } }, 404), 'model_not_found'],
    [
      'an error body over 8 KiB',
      'classifier',
      answers({ error: { code: 'model_not_found', message: 'x'.repeat(8_192) } }, 404),
      'not_found',
    ],
    ['an endless error body', 'classifier', (response) => void response.writeHead(404).write('{'), 'not_found'],
    ['status 429', 'detector', answers({}, 429), 'rate_limited'],
    ['status 500', 'detector', answers({}, 500), 'unexpected_status'],
    ['an answer that is no decision', 'detector', answers({ score: 1 }), 'invalid_answer'],
    ['an answer after timeoutMs', 'detector', () => undefined, 'timeout'],
    ['a closed connection', 'detector', (response) => void response.destroy(), 'network'],
  ])('%s of a %s is named in log and metric', async (_title, name, script, cause) => {
    provider.play(script);
    await using runtime = await runtimeAt(provider.url);
    await expectCause(runtime, name, cause);
  });

  test('a credential that disappears is named in log and metric', async () => {
    let now = 0;
    await using runtime = await runtimeAt(provider.url, () => now);
    rmSync(join(runtime.folder, 'provider.key'));
    now += 2_000;
    await expectCause(runtime, 'detector', 'credential_missing');
  });

  test('a check that requests no explanation gets neither the name of a failed provider nor the cause', async () => {
    provider.play(answers({}, 401));
    await using runtime = await runtimeAt(provider.url);
    const { status, headers } = await runtime.check('request', [secretText]);
    expect(status).toBe(503);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-portcullis'))).toEqual([]);
  });

  test('every failure is counted, a change is logged at most every 10 s, and a recovery is logged', async () => {
    let now = 0;
    await using runtime = await runtimeAt(provider.url, () => now);
    const check = async (script: Script): Promise<readonly (string | undefined)[]> => {
      provider.play(script);
      await runtime.check('request', ['hello']);
      return changesIn(runtime.log()).map(({ event, cause }) => cause ?? event);
    };
    expect(await check(allow)).toEqual([]);
    expect(await check(answers({}, 401))).toEqual(['credential_refused']);
    now += 9_999;
    expect(await check(answers({}, 404))).toEqual(['credential_refused']);
    now += 1;
    expect(await check(answers({}, 404))).toEqual(['credential_refused', 'not_found']);
    now += 10_000;
    expect(await check(allow)).toEqual(['credential_refused', 'not_found', 'check_provider_recovered']);
    expect(await runtime.metric(failures, { provider: 'detector', cause: 'not_found' })).toBe(2);
  });

  test.each(providerCauses)('the failure cause %s has a sentence with a remedy', (cause) => {
    const { problem, remedy } = checkProviderProblem(cause);
    expect([problem.length > 10, remedy.length > 3]).toEqual([true, true]);
  });
});
