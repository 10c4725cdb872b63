import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { answers, startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { startFakeApiServer } from '#kube/testing/fake-api-server';
import { patchUnguarded } from '#kube/testing/patch-unguarded';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { runSourceFile } from './run-source-file.ts';

describe('the program of helm test for the gateway', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform?.[Symbol.asyncDispose]());

  const ask = (more: Readonly<Record<string, string>> = {}): Promise<ProgramEnd> =>
    runSourceFile('cli/cluster/test-gateway.ts', {
      PORTCULLIS_GATEWAY_URL: platform.status().addresses.gateway,
      PORTCULLIS_CLIENT_KEYS_FILE: platform.status().clientKeyFile,
      ...more,
    });

  test('the helm test of the gateway sends a text that passes, complete and in a stream, one that is masked and one that is denied', async () => {
    expect(await ask()).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        'passed: the gateway lists its models',
        'passed: an ordinary question passes',
        'passed: an ordinary question passes in a stream',
        'passed: an e-mail address is masked',
        'passed: a forbidden subject is denied',
        '',
      ].join('\n'),
    });
  });

  test('the helm test of the gateway only lists the models when the example is disabled', async () => {
    const { code, stdout } = await ask({ PORTCULLIS_EXAMPLE: 'false' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'passed: the gateway lists its models\n' });
  });

  test('the helm test of the gateway fails with a wrong key and without a key', async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'clients');
    writeFileSync(file, 'another-key first\n');
    const url = { PORTCULLIS_GATEWAY_URL: platform.status().addresses.gateway };
    const ends = [
      await ask({ PORTCULLIS_CLIENT_KEYS_FILE: file }),
      await runSourceFile('cli/cluster/test-gateway.ts', url),
    ];
    for (const { code, stderr } of ends) {
      expect(code).toBe(5);
      expect(stderr).toBe('test: GET /v1/models: status 401 unauthenticated\n');
    }
  });

  test('the helm test of the gateway fails for an unguarded model and names the failed check without its text', async () => {
    const { client } = platform;
    const binding = await client.get<ModelBinding>(kinds.modelBinding, 'guarded-echo');
    await patchUnguarded(client, 'guarded-echo', [
      { op: 'test', path: '/metadata/generation', value: binding?.metadata.generation },
      { op: 'replace', path: '/spec/guardrail', value: { mode: 'None' } },
    ]);
    const end = await until('the model is unguarded', async () => {
      const one = await ask();
      return one.code === 0 ? undefined : one;
    });
    expect(end).toMatchObject({
      code: 5,
      stderr: 'test: an e-mail address is masked: the answer is not the expected one\n',
    });
  });

  test('the helm test of the gateway fails at its deadline when the gateway is unreachable', async () => {
    const { code, stderr } = await ask({
      PORTCULLIS_GATEWAY_URL: 'http://127.0.0.1:1',
      PORTCULLIS_PATIENCE_SECONDS: '1',
    });
    expect(code).toBe(12);
    expect(stderr).toMatch(/no answer; see the conditions of the binding/);
  });

  test('the helm test of the gateway names an invalid setting', async () => {
    const { code, stderr } = await ask({ PORTCULLIS_CLIENT_KEYS_FILE: '/no/such/file' });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^test: PORTCULLIS_CLIENT_KEYS_FILE/);
  });
});

describe('the program of helm test for the management API', () => {
  const ask = (url: string): Promise<ProgramEnd> =>
    runSourceFile('cli/cluster/test-management.ts', {
      PORTCULLIS_MANAGEMENT_URL: url,
      PORTCULLIS_PATIENCE_SECONDS: '1',
    });
  /** A server that responds to every path with this status and body. */
  async function answered(status: number, body: unknown): Promise<ProgramEnd> {
    await using server = await startScriptedHttp(answers(JSON.stringify(body), status));
    return await ask(server.url);
  }

  test.skipIf(missingPostgres !== undefined)(
    onPostgres('the management test passes when the API serves and refuses requests without a token'),
    async () => {
      await using platform = await startPlatform({ management: true });
      expect(await ask(platform.status().addresses.management ?? '')).toEqual({
        code: 0,
        stderr: '',
        stdout: 'passed: a ready replica serves the OpenAPI document\npassed: a request without a token is refused\n',
      });
    },
  );

  test('the helm test of the management API fails when another service responds', async () => {
    const { code, stderr } = await answered(200, {});
    expect(code).toBe(5);
    expect(stderr).toMatch(/openapi.json: status 200 instead of an OpenAPI document\n$/);
  });

  test('the helm test of the management API fails when requests without a token are accepted', async () => {
    const { code, stderr } = await answered(200, { openapi: '3.1.0', paths: { '/api/v1/guardrail-policies': {} } });
    expect(code).toBe(5);
    expect(stderr).toMatch(/guardrail-policies: status 200 instead of 401 unauthenticated\n$/);
  });

  test('the helm test of the management API fails at its deadline when the API is unreachable', async () => {
    const { code, stderr } = await ask('http://127.0.0.1:1');
    expect(code).toBe(12);
    expect(stderr).toMatch(/no answer; see the log of the management API/);
  });
});

describe('the program that applies the example', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n';

  async function apply(url: string, more: Readonly<Record<string, string>> = {}): Promise<ProgramEnd> {
    using folder = temporaryFolder();
    const [tokenFile, caFile] = [join(folder.path, 'token'), join(folder.path, 'ca.crt')];
    writeFileSync(tokenFile, 'a-token');
    writeFileSync(caFile, certificate);
    return await runSourceFile('cli/cluster/apply-examples.ts', {
      PORTCULLIS_API_URL: url,
      PORTCULLIS_API_TOKEN_FILE: tokenFile,
      PORTCULLIS_API_CA_FILE: caFile,
      PORTCULLIS_NAMESPACE: 'safety',
      ...more,
    });
  }

  test('the example job creates a policy and then a model at the configured gateway', async () => {
    await using server = await startFakeApiServer();
    const { code, stdout } = await apply(server.url, { PORTCULLIS_GATEWAY: 'second' });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'GuardrailPolicy guarded-chat created\nModelBinding guarded-echo created\n',
    });
    expect(server.seen.filter((line) => line.startsWith('POST'))).toEqual([
      'POST /apis/portcullis.dev/v1alpha1/namespaces/safety/guardrailpolicies',
      'POST /apis/portcullis.dev/v1alpha1/namespaces/safety/modelbindings',
    ]);
    const binding = server.object('modelbindings', 'guarded-echo') as unknown as ModelBinding;
    expect(binding.spec).toMatchObject({
      gateway: 'second',
      model: { alias: 'guarded-echo', provider: 'echo' },
      guardrail: { mode: 'Policy', policyRef: { name: 'guarded-chat', revision: 1 } },
    });
  });

  test('the example job leaves existing objects unchanged', async () => {
    await using server = await startFakeApiServer();
    await apply(server.url);
    server.change('guardrailpolicies', 'guarded-chat', (object) => {
      object['spec'] = { displayName: 'Ours now' };
    });
    const { code, stdout } = await apply(server.url);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'GuardrailPolicy guarded-chat already exists\nModelBinding guarded-echo already exists\n',
    });
    const policy = server.object('guardrailpolicies', 'guarded-chat') as unknown as GuardrailPolicy;
    expect(policy.spec.displayName).toBe('Ours now');
  });

  test('the example job waits for a server that is not reachable yet, until its deadline', async () => {
    await using server = await startFakeApiServer();
    let cut = 0;
    server.fate = () => {
      cut += 1;
      return cut <= 2 ? 'cut' : 'served';
    };
    expect(await apply(server.url)).toMatchObject({ code: 0 });
    server.fate = () => 'cut';
    const { code, stderr } = await apply(server.url, { PORTCULLIS_PATIENCE_SECONDS: '1' });
    expect(code).toBe(4);
    expect(stderr).toMatch(/^example: /);
  });
});
