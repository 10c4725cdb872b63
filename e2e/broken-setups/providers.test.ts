import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { currentProfile } from '#contracts/profiles';
import { unusedPort } from '#kit/testing/loopback';
import { until } from '#kit/testing/until';
import { sampleAgentVersion } from '#kube/testing/sample-agents';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { type Folder, folderWithFiles, runInProcess } from '../../cli/testing/run-cli.ts';
import { createAuthority, openAuthority } from '../../hack/cluster/certificates/authority.ts';
import { askingDefinitionOf, bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { createFirstLines } from './first-lines.ts';

const lines = createFirstLines();
const now = new Date();
/** An authority that the platform trusts. */
const root = createAuthority(now);
const strange = createAuthority(now);
const subject = { commonName: 'models' };
const yearMs = 365 * 86_400_000;

/** A provider that accepts one key and serves one model. */
const models: RequestListener = ({ headers }, response) => {
  const isKnown = headers.authorization === 'Bearer right';
  const code = isKnown ? 'model_not_found' : 'invalid_api_key';
  response.writeHead(isKnown ? 404 : 401, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: 'no', type: 'invalid_request_error', param: null, code } }));
};

const servers: Server[] = [];
async function listen(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
const secure = ({ certificate, key }: { readonly certificate: string; readonly key: string }) =>
  listen(createTlsServer({ cert: certificate, key }, models));

const allows: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ decision: 'allow' }));
};
const refuses: RequestListener = (_request, response) => {
  response.writeHead(401).end();
};
const breaks: RequestListener = (_request, response) => {
  response.destroy();
};
let detector: RequestListener = allows;

/** The given definition with timeouts that a busy machine does not exceed. */
function patient(definition: ReturnType<typeof askingDefinitionOf>): ReturnType<typeof askingDefinitionOf> {
  const { request } = definition;
  const additional = request.additional.map((rule) => ({ ...rule, timeoutMs: 4_000 }));
  return { ...definition, request: { ...request, deadlineMs: 5_000, additional } };
}

let folder: Folder;
let platform: Platform;

beforeAll(async () => {
  folder = folderWithFiles();
  const plain = `http://127.0.0.1:${await listen(createServer(models))}/v1`;
  const expired = openAuthority(root, new Date(now.getTime() - 2 * yearMs)).issueServer(subject, ['127.0.0.1']);
  const provider = (name: string, endpoint: string, credential?: string) =>
    ({ name, kind: 'model', endpoint, enabled: true, ...(credential === undefined ? {} : { credential }) }) as const;
  const providers = [
    provider('no-key', plain, 'absent'),
    provider('empty-key', plain, 'empty'),
    provider('unknown-host', 'http://no-such-host.invalid/v1'),
    provider('down', `http://127.0.0.1:${await unusedPort()}/v1`),
    provider('unknown-authority', `https://127.0.0.1:${await secure(strange.issueServer(subject, ['127.0.0.1']))}/v1`),
    provider('expired-certificate', `https://127.0.0.1:${await secure(expired)}/v1`),
    provider('wrong-model', plain, 'right'),
    provider('wrong-key', plain, 'wrong'),
  ];
  const asked = createServer((...exchange) => detector(...exchange));
  const spam = `http://127.0.0.1:${await listen(asked)}/check`;
  mkdirSync(`${folder.path}/data`);
  // The operator reads the list at its start; the policy is created below.
  const policyRef = { name: 'patient', revision: 1 };
  const policies = [{ name: 'patient', policyRef, contentProfile: currentProfile, replicas: 1 }];
  folder.write('data/served-policies.yaml', stringify({ policies }));
  platform = await startPlatform({
    providers: [...providers, { name: 'spam', kind: 'detector', endpoint: spam, credential: 'spam-key' }],
    secrets: { 'spam-key': 'key\n', empty: '', right: 'right\n', wrong: 'wrong\n' },
    data: `${folder.path}/data`,
    environment: { NODE_EXTRA_CA_CERTS: folder.write('ca.pem', root.certificate) },
  });
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  const definition = askingDefinitionOf('portal');
  await platform.client.create(kinds.guardrailPolicy, policyObject('asking', { definition }));
  await platform.client.create(kinds.guardrailPolicy, policyObject('patient', { definition: patient(definition) }));
});
afterAll(async () => {
  console.log(lines.table());
  await platform?.[Symbol.asyncDispose]();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  folder?.[Symbol.dispose]();
});

test.each([
  ['key missing', 'no-key', /its credential does not exist/, /Add the credential to the secrets/],
  ['key empty', 'empty-key', /its credential is empty/, /Write one key into the file/],
  ['name of the provider unknown (DNS)', 'unknown-host', /the name of its host cannot be resolved/, /or the DNS/],
  ['connection refused', 'down', /no program accepts connections at its endpoint/, /Start the provider/],
  ['TLS: unknown authority', 'unknown-authority', /the authority of its certificate is unknown/, /NODE_EXTRA_CA_CERTS/],
  ['TLS: certificate expired', 'expired-certificate', /its certificate has expired/, /Renew the certificate/],
  ['model unknown to the provider', 'wrong-model', /it does not know the model/, /spec\.model\.upstreamModel/],
  ['provider answers 401', 'wrong-key', /it refuses the credential/, /Replace the key/],
] as const)('status and why name the cause first: %s', async (setup, provider, cause, remedy) => {
  const model = { alias: provider, provider, upstreamModel: 'large', state: 'Enabled' } as const;
  await platform.client.create(kinds.modelBinding, bindingObject(provider, { model }));
  const run = (...args: readonly string[]) => runInProcess(args, { data: platform.data });
  await until('the binding is applied', async () => (await run('why', provider)).stdout.includes('is applied'));
  // A refused key and an unknown model show only on a request.
  expect((await run('chat', provider, '-m', 'Hello')).code).not.toBe(0);
  await lines.expect(setup, `portcullis why ${provider}`, () => run('why', provider), cause, remedy);
  await lines.expect(setup, 'portcullis status', () => run('status'), cause, remedy);
  expect((await run('delete', 'modelbinding', provider, '--yes')).code).toBe(0);
  await until('the binding is deleted', async () => (await run('why', provider)).code === 3);
});

test('status and why name the cause first when a detector fails after the application, until it judges again', async () => {
  const model = { alias: 'judged', provider: 'wrong-model', upstreamModel: 'large', state: 'Enabled' } as const;
  const guardrail = { mode: 'Policy', policyRef: { name: 'asking', revision: 1 } } as const;
  await platform.client.create(kinds.modelBinding, bindingObject('judged', { model, guardrail }));
  const run = (...args: readonly string[]) => runInProcess(args, { data: platform.data });
  await until('the binding is applied', async () => (await run('why', 'judged')).stdout.includes('is applied'));
  for (const [setup, answers, cause, remedy] of [
    ['detector answers 401', refuses, /spam of the rule asks cannot be used: it refuses the credential/, /Replace/],
    ['detector breaks connections', breaks, /spam of the rule asks cannot be used: the connection/, /Check the net/],
  ] as const) {
    detector = answers;
    expect((await run('chat', 'judged', '-m', 'Hello')).code).not.toBe(0);
    await lines.expect(setup, 'portcullis why judged', () => run('why', 'judged'), cause, remedy);
    await lines.expect(setup, 'portcullis status', () => run('status'), cause, remedy);
  }
  detector = allows;
  await until('the detector judges again', async () => !(await run('why', 'judged')).stdout.includes('the rule asks'));
});

test('an agent whose detector fails refuses its runs, and status and why name the cause first until it judges again', async () => {
  const version = sampleAgentVersion('guarded-hello', 'patient');
  const { lowCode } = version.spec;
  const manifest = lowCode?.manifest.replace('input: None', 'input: { policy: patient, revision: 1 }') ?? '';
  const spec = { ...version.spec, lowCode: { ...lowCode, manifest } } as AgentVersion['spec'];
  await platform.client.create(kinds.agentVersion, { ...version, spec });
  const run = (...args: readonly string[]) => runInProcess(args, { data: platform.data });
  const send = () => run('agent', 'send', 'guarded-hello', '--message', 'a fine day', '--as', 'ann');
  const why = () => run('why', 'agentversion/guarded-hello');
  await until('the version is ready', async () => {
    const { stdout } = await why();
    if (!stdout.startsWith('AgentVersion guarded-hello is ready')) throw new Error(stdout);
    return true;
  });
  expect(await send()).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('a fine day') });
  detector = refuses;
  const refused = await send();
  expect(refused.code).not.toBe(0);
  expect(refused.stdout + refused.stderr).not.toContain('a fine day');
  const cause = /is ready: .*spam of the rule asks cannot be used: it refuses the credential/;
  const setup = 'detector of an agent answers 401';
  await lines.expect(setup, 'portcullis why agentversion/guarded-hello', why, cause, /Replace/);
  await lines.expect(setup, 'portcullis status', () => run('status'), /spam of the rule asks/, /Replace/);
  const conditionNow = async () => {
    const found = await platform.client.get<AgentVersion>(kinds.agentVersion, 'guarded-hello');
    return found?.status?.conditions?.find(({ type }) => type === 'ProviderReachable');
  };
  expect(await conditionNow()).toMatchObject({ status: 'False', reason: 'CredentialRefused' });
  detector = allows;
  expect((await send()).code).toBe(0);
  await until('the condition is met', async () => (await conditionNow())?.status === 'True');
  expect((await why()).stdout).not.toContain('the rule asks');
});
