import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { verifies } from '../../e2e/support/verifies.ts';
import { readConfig, settings } from './config.ts';

const folder = temporaryFolder();
const secret = join(folder.path, 'secret');
afterAll(() => folder[Symbol.dispose]());
const targetFile = join(folder.path, 'target.json');

async function read(change: Record<string, string>) {
  await writeFile(secret, 'x');
  return readConfig({
    PORTCULLIS_IDENTITY: 'development',
    PORTCULLIS_DATABASE_URL: 'postgres://user@127.0.0.1:1/database',
    PORTCULLIS_DATABASE_PASSWORD_FILE: secret,
    PORTCULLIS_MODEL_GATEWAY_URL: 'http://127.0.0.1:1',
    PORTCULLIS_MODELS_FILE: join(folder.path, 'models.yaml'),
    PORTCULLIS_OBJECTS_DIR: folder.path,
    ...change,
  }).config;
}

test('the retrieval service in development mode listens on this machine only', async () => {
  const everywhere = { PORTCULLIS_LISTEN: '0.0.0.0:8080' };
  await expect(read(everywhere)).rejects.toThrow('PORTCULLIS_LISTEN must be an address 127.0.0.1 or [::1]');
  const production = { PORTCULLIS_IDENTITY: 'production', PORTCULLIS_ISSUERS_FILE: secret };
  expect((await read({ ...everywhere, ...production })).listen).toEqual({ host: '0.0.0.0', port: 8080 });
});

test('documents are judged with a target and a token, and not judged without both', async () => {
  expect(await read({})).toMatchObject({ guard: 'unguarded' });
  const both = { PORTCULLIS_GUARD_TARGET_FILE: targetFile, PORTCULLIS_RUNTIME_TOKEN_FILE: secret };
  expect(await read(both)).toMatchObject({ guard: { targetFile, tokenFile: secret } });
});

test.each([
  ['PORTCULLIS_GUARD_TARGET_FILE', 'PORTCULLIS_RUNTIME_TOKEN_FILE'],
  ['PORTCULLIS_RUNTIME_TOKEN_FILE', 'PORTCULLIS_GUARD_TARGET_FILE'],
])('%s without %s is refused, so that a mistake does not let documents pass unjudged', async (given, missing) => {
  await writeFile(secret, 'x');
  await expect(read({ [given]: secret })).rejects.toThrow(`${missing} is missing`);
});

verifies(
  ['retrieval:models:no-inference-keys'],
  'the settings of retrieval name the files of its own secrets, and no key of a model provider',
  () => {
    const secrets = Object.keys(settings).filter((name) => /TOKEN|KEY|PASSWORD|SECRET|CREDENTIAL/.test(name));
    expect(secrets.sort()).toEqual([
      'PORTCULLIS_AUDIT_OTLP_TOKEN_FILE',
      'PORTCULLIS_AUDIT_WEBHOOK_SECRET_FILE',
      'PORTCULLIS_DATABASE_PASSWORD_FILE',
      'PORTCULLIS_INTERNAL_TOKEN_FILE',
      'PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE',
      'PORTCULLIS_NATS_CREDENTIALS_FILE',
      'PORTCULLIS_OPENFGA_TOKEN_FILE',
      'PORTCULLIS_OPENSEARCH_PASSWORD_FILE',
      'PORTCULLIS_RUNTIME_TOKEN_FILE',
      'PORTCULLIS_S3_ACCESS_KEY_FILE',
      'PORTCULLIS_S3_SECRET_KEY_FILE',
      'PORTCULLIS_TLS_KEY_FILE',
      'PORTCULLIS_TRACES_OTLP_TOKEN_FILE',
    ]);
  },
);

test('the address for managers of collections requires its token, and the token requires its address', async () => {
  expect(await read({})).toMatchObject({ internal: undefined });
  const both = { PORTCULLIS_INTERNAL_LISTEN: '127.0.0.1:0', PORTCULLIS_INTERNAL_TOKEN_FILE: secret };
  expect(await read(both)).toMatchObject({ internal: { listen: { host: '127.0.0.1', port: 0 }, tokenFile: secret } });
  const [address, token] = ['PORTCULLIS_INTERNAL_LISTEN', 'PORTCULLIS_INTERNAL_TOKEN_FILE'];
  await expect(read({ [address]: '127.0.0.1:0' })).rejects.toThrow(`${token} is missing`);
  await expect(read({ [token]: secret })).rejects.toThrow(`${address} is missing`);
});
