import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import type { Bundle } from '#contracts/bundle';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { type RunningProcess, startProcess } from '../e2e/support/start-process.ts';
import { verifies } from '../e2e/support/verifies.ts';
import { bundle, bundleOf, detector, policy, providersAt, regex, section, stopList } from './testing/build-bundle.ts';
import { allow } from './testing/provider-answers.ts';
import { createRuntimeClient, providerKey, testServiceToken } from './testing/start-runtime.ts';

const agent = new Agent();
afterAll(() => agent.destroy());

type Folder = ReturnType<typeof temporaryFolder>;

function prepare(value: Bundle | string | undefined): Folder & { readonly file: (name: string) => string } {
  const folder = temporaryFolder();
  const file = (name: string): string => join(folder.path, name);
  if (value !== undefined)
    writeFileSync(file('bundle.json'), typeof value === 'string' ? value : JSON.stringify(value));
  writeFileSync(file('token'), `${testServiceToken}\n`);
  writeFileSync(file('provider.key'), `${providerKey}\n`);
  return { ...folder, file, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

function start({ path }: Folder): Promise<RunningProcess> {
  return startProcess({
    file: 'runtime/main.ts',
    environment: {
      PORTCULLIS_LISTEN: '127.0.0.1:0',
      PORTCULLIS_BUNDLE_FILE: join(path, 'bundle.json'),
      PORTCULLIS_TOKEN_FILE: join(path, 'token'),
      PORTCULLIS_SECRETS_DIR: path,
      PORTCULLIS_TERMINATION_MESSAGE_FILE: join(path, 'termination'),
    },
  });
}

const readiness = async (runtime: RunningProcess): Promise<number> => (await fetch(`${runtime.url}/readyz`)).status;
const ready = (runtime: RunningProcess): Promise<boolean> =>
  until('the runtime is ready', async () => (await readiness(runtime)) === 200);
const reason = (answer: { readonly json: { readonly action?: unknown } }): unknown =>
  (answer.json.action as { reason?: string } | undefined)?.reason;

const first = bundle([policy(section([stopList('words', ['apple'])]), undefined, 'policy-a', '1')]);
const second = bundle([policy(section([stopList('words', ['banana'])]), undefined, 'policy-a', '2')]);

describe('a runtime process', () => {
  verifies(
    [
      'guardrail:process:separate-process',
      'guardrail:generation:bundle-loaded-at-start',
      'guardrail:state:bundle-loaded-ready',
      'guardrail:isolation:management-down',
      'guardrail:isolation:no-database-read',
      'guardrail:isolation:no-cluster-read',
    ],
    'a runtime process loads its bundle at start and needs no database, cluster or file afterwards',
    async () => {
      using folder = prepare(first);
      await using runtime = await start(folder);
      await ready(runtime);
      const client = createRuntimeClient(runtime.url, agent, first);
      rmSync(folder.file('bundle.json'));
      for (const stage of ['request', 'response'] as const) {
        expect(reason(await client.check(stage, ['apple']))).toBe('policy_denied');
        expect(reason(await client.check(stage, ['banana']))).toBe('policy_pass');
      }
      expect(await readiness(runtime)).toBe(200);
      expect(await runtime.end()).toBe(0);
    },
  );

  verifies(
    [
      'guardrail:generation:no-hot-reload',
      'guardrail:generation:new-version-new-process',
      'guardrail:stateless:only-process-metrics',
    ],
    'a runtime process serves one bundle for its whole life; another bundle needs another process, whose counters start at 0',
    async () => {
      using folder = prepare(first);
      await using runtime = await start(folder);
      await ready(runtime);
      const old = createRuntimeClient(runtime.url, agent, first);
      const next = createRuntimeClient(runtime.url, agent, second);
      await old.check('request', ['apple']);
      writeFileSync(folder.file('next.json'), JSON.stringify(second));
      renameSync(folder.file('next.json'), folder.file('bundle.json'));
      expect(reason(await old.check('request', ['apple']))).toBe('policy_denied');
      expect(reason(await old.check('request', ['banana']))).toBe('policy_pass');
      expect((await next.check('request', ['banana'])).json.code).toBe('policy_unavailable');
      expect(await old.metric('portcullis_runtime_checks_total', { decision: 'deny' })).toBe(2);
      await using successor = await start(folder);
      await ready(successor);
      expect(reason(await createRuntimeClient(successor.url, agent, second).check('request', ['banana']))).toBe(
        'policy_denied',
      );
      expect((await createRuntimeClient(successor.url, agent, first).check('request', ['apple'])).json.code).toBe(
        'policy_unavailable',
      );
      expect(
        await createRuntimeClient(successor.url, agent, second).metric('portcullis_runtime_checks_total', {
          decision: 'deny',
        }),
      ).toBe(1);
      expect(reason(await old.check('request', ['apple']))).toBe('policy_denied');
    },
  );

  verifies(
    ['guardrail:auth:token-from-mounted-file'],
    'a runtime process accepts both tokens of its file and follows a rotation without a restart',
    async () => {
      using folder = prepare(first);
      await using runtime = await start(folder);
      await ready(runtime);
      const client = createRuntimeClient(runtime.url, agent, first);
      const withToken = async (token: string): Promise<number> =>
        (await client.check('request', ['x'], { authorization: `Bearer ${token}` })).status;
      expect([await withToken(testServiceToken), await withToken('next-token')]).toEqual([200, 401]);
      writeFileSync(folder.file('token'), `next-token\n${testServiceToken}\n`);
      await until('the next token is taken', async () => (await withToken('next-token')) === 200);
      expect(await withToken(testServiceToken)).toBe(200);
      writeFileSync(folder.file('token'), 'next-token\n');
      await until('the old token is refused', async () => (await withToken(testServiceToken)) === 401);
      expect(await withToken('next-token')).toBe(200);
      rmSync(folder.file('token'));
      await until('no token is taken', async () => (await withToken('next-token')) === 401);
    },
  );

  test('a runtime process that receives SIGTERM answers the checks in flight and exits with 0', async () => {
    const held: (() => void)[] = [];
    await using provider = await startScriptedHttp((response, asked) => held.push(() => allow(response, asked)));
    const slow = bundleOf([detector('slow')], [], { providers: providersAt(provider.url) });
    using folder = prepare(slow);
    await using runtime = await start(folder);
    await ready(runtime);
    const running = createRuntimeClient(runtime.url, agent, slow).check('request', ['hello']);
    await until('the provider is asked', () => held.length === 1);
    const ended = runtime.end('SIGTERM');
    await until('new connections are refused', () =>
      fetch(`${runtime.url}/readyz`).then(
        () => false,
        () => true,
      ),
    );
    held[0]?.();
    const answer = await running;
    expect({ status: answer.status, reason: reason(answer), connection: answer.headers['connection'] }).toEqual({
      status: 200,
      reason: 'policy_pass',
      connection: 'close',
    });
    expect(await ended).toBe(0);
  });

  test('a runtime process without its settings exits with one sentence for each missing setting', async () => {
    const started = startProcess({ file: 'runtime/main.ts', environment: { PORTCULLIS_LISTEN: 'nowhere' } });
    await expect(started).rejects.toThrow(/PORTCULLIS_LISTEN[\s\S]*PORTCULLIS_BUNDLE_FILE[\s\S]*PORTCULLIS_TOKEN_FILE/);
  });
});

describe.concurrent('a bundle that cannot be loaded', () => {
  verifies(
    [
      'guardrail:state:bundle-not-loaded',
      'guardrail:readyz:not-ready-503',
      'guardrail:errors:policy-unavailable-not-ready',
    ],
    'a runtime whose bundle is refused writes the reason, answers 503, exits with 1, and answers 503 again after a restart',
    async () => {
      const costly = bundleOf([regex('costly', '(.{1,100}){1,9}Z')]);
      using folder = prepare(costly);
      await using runtime = await start(folder);
      await until('the reason is written', () =>
        readFileSync(folder.file('termination'), 'utf8').includes('rule costly'),
      );
      const client = createRuntimeClient(runtime.url, agent, costly);
      const reason = (section: string): string =>
        `policy policy-a, ${section} section, rule costly: its time on 32768 bytes \\(maxBodyBytes\\) has no known bound, and ` +
        'may be above 25 ms, the most that any local rule may take: write it narrower, with small bounds such as \\{0,64\\} ' +
        'and few alternatives, or move it into an external detector';
      expect(readFileSync(folder.file('termination'), 'utf8')).toMatch(
        new RegExp(`^${reason('request')}; ${reason('response')}\n$`),
      );
      await until('the reason is logged', () => runtime.log().includes('rule costly'));
      expect(await readiness(runtime)).toBe(503);
      for (const stage of ['request', 'response'] as const) {
        const answer = await client.check(stage, ['hello']);
        expect({ status: answer.status, code: answer.json.code }).toEqual({ status: 503, code: 'policy_unavailable' });
        expect((await client.check(stage, ['hello'], { 'x-ap-gr-response-mode': undefined })).json.code).toBe(
          'policy_unavailable',
        );
        expect((await client.check(stage, ['hello'], { 'x-ap-gr-policy-id': undefined })).json.code).toBe(
          'untrusted_context',
        );
        expect((await client.check(stage, ['hello'], { authorization: undefined })).json.code).toBe('unauthenticated');
        expect((await client.check(stage, ['hello'], { 'content-type': 'text/plain' })).json.code).toBe(
          'unsupported_media',
        );
        expect((await client.check(stage, ['a'.repeat(131_072)])).json.code).toBe('body_too_large');
        expect((await client.post(`/${stage}`, 'a'.repeat(131_072))).json.code).toBe('policy_unavailable');
      }
      expect((await fetch(`${runtime.url}/docs`)).status).toBe(200);
      expect(await runtime.exit()).toBe(1);
      // A supervisor restarts the runtime each time it ends: readiness is 503 after every start.
      for (let restart = 0; restart < 2; restart += 1) {
        await using again = await start(folder);
        await until('the reason is logged again', () => again.log().includes('rule costly'));
        expect(await readiness(again)).toBe(503);
        expect((await createRuntimeClient(again.url, agent, costly).check('request', ['hello'])).json.code).toBe(
          'policy_unavailable',
        );
      }
    },
  );

  test.each([
    ['is missing', undefined, /the bundle file cannot be read \(ENOENT\)/],
    ['is not JSON', '{', /the bundle is not strict JSON: syntax at byte 1/],
    [
      'has another schema',
      JSON.stringify({ ...first, schema: 'bundle/v2' }),
      /schema must be "platform\.guardrail-runtime\.bundle\/v1"/,
    ],
    ['is too large', ' '.repeat(716_801), /larger than 716800 bytes/],
    [
      'needs a credential that is missing',
      JSON.stringify(
        bundleOf([detector('d')], [], {
          providers: [{ name: 'detector', kind: 'detector', endpoint: 'http://127.0.0.1:1/', credential: 'absent' }],
        }),
      ),
      /provider detector: .*absent/,
    ],
  ])('a bundle is refused because it %s', async (_, content, expected) => {
    using folder = prepare(content);
    await using runtime = await start(folder);
    await until('the reason is written', () => expected.test(readFileSync(folder.file('termination'), 'utf8')));
    expect(await readiness(runtime)).toBe(503);
    expect(await runtime.end()).toBe(0);
  });
});
