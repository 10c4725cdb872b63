import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { mintToken } from '#identity/mint-token';
import { ensureSigningKeys, publicKeySet, readSigningKeys } from '#identity/signing-keys';
import { createLogger } from '#kit/log/logger';
import { systemClock } from '#kit/time/clock';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { grantFirstAdministrators } from '../../operator/management/access/grant-first-administrators.ts';
import { openAccess } from '../../operator/management/access/open-access.ts';
import { createRightsRecord } from '../../operator/management/access/record-rights.ts';
import { readConfig } from '../../operator/management/config.ts';
import { accessRules } from '../../operator/management/http/operation-rights.ts';
import { missingOpenFga, onOpenFga, startOpenFga } from './openfga-server.ts';

const issuer = 'http://issuer.portcullis.localhost';
const audience = 'portcullis';
const openFgaToken = 'hunter2';

let folder: string;
let keyFile: string;
const inFolder = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portcullis-access-'));
  keyFile = join(folder, 'keys.json');
  await ensureSigningKeys(keyFile);
  inFolder('jwks.json', JSON.stringify(publicKeySet(await readSigningKeys(keyFile))));
});
afterAll(() => rmSync(folder, { recursive: true }));

const isMissing = missingOpenFga !== undefined || missingPostgres !== undefined;

describe.skipIf(isMissing)(onPostgres(onOpenFga('the management API with OpenFGA')), () => {
  test('with OpenFGA as the relation store, OpenFGA decides who may administer, and every request is refused while it is unreachable', async () => {
    await using server = await startOpenFga({ token: openFgaToken });
    const issuers = JSON.stringify({ issuers: [{ issuer, audience, jwksFile: 'jwks.json' }] });
    const { config, secrets } = readConfig({
      PORTCULLIS_API_URL: 'http://127.0.0.1:1',
      PORTCULLIS_API_TOKEN_FILE: inFolder('api.token', 'a'),
      PORTCULLIS_DATABASE_URL: 'postgres://me@127.0.0.1:1/a',
      PORTCULLIS_DATABASE_PASSWORD_FILE: inFolder('password', 'a'),
      PORTCULLIS_ISSUERS_FILE: inFolder('issuers.yaml', issuers),
      PORTCULLIS_RELATIONS: 'openfga',
      PORTCULLIS_OPENFGA_URL: server.url.href,
      PORTCULLIS_OPENFGA_TOKEN_FILE: inFolder('openfga.token', `${openFgaToken}\n`),
      PORTCULLIS_ADMINISTRATORS: `${issuer}|ann`,
      PORTCULLIS_ENVIRONMENT_DIR: folder,
    });
    await using parts = new AsyncDisposableStack();
    // OpenFGA stores the relations; the database stores the id of the OpenFGA store.
    const { database } = parts.use(await openTestDatabase());
    const migrations = new URL('../../operator/management/migrations/', import.meta.url);
    await migrate(database, { schema: 'management', folder: migrations });
    const logger = createLogger({ service: 'test', level: 'error' });
    const access = await openAccess(config, parts, {
      database,
      clock: systemClock,
      logger,
      onKeysUnavailable: () => undefined,
      onBreakGlass: () => undefined,
      openFgaTokenFile: secrets.openFgaTokenFile,
      breakGlassFile: undefined,
      rules: accessRules,
    });
    const audit = await openPostgresAudit(database, 'management');
    const record = createRightsRecord({ database, relations: access.relations, audit }, logger);
    await grantFirstAdministrators(database, record, { names: config.administrators, clock: systemClock, logger });
    const { entries } = await audit.read({ filter: {}, order: 'oldest', limit: 10 });
    expect(entries.map(({ content }) => content.target?.id)).toEqual([expect.stringMatching(/\|ann$/)]);
    const asked = { operation: 'createPolicy', path: {}, traceId: '0'.repeat(32) };
    const authorize = async (subject: string) => {
      const token = await mintToken({ keyFile, issuer, subject, audience, ttlSeconds: 60 });
      return access.authorizer.authorize(['Authorization', `Bearer ${token}`], asked);
    };
    expect(await authorize('ann')).toMatchObject({ kind: 'caller' });
    expect(await authorize('bob')).toMatchObject({ kind: 'error', code: 'permission_denied' });
    expect(await access.authorizer.authorize([], asked)).toEqual({
      kind: 'error',
      code: 'unauthenticated',
    });
    await server.end();
    expect(await authorize('ann')).toMatchObject({ kind: 'error', code: 'authorization_unavailable' });
  });
});
