import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Hex } from '#contracts/canonical';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { root } from '../../hack/check/run-tool.ts';
import { insertCommand, leftCommand } from '../../operator/management/testing/insert-command.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';

const folders = {
  management: join(root, 'operator/management/migrations'),
  relations: join(root, 'libraries/relations/adapters/postgres/migrations'),
  audit: join(root, 'libraries/audit/adapters/postgres/migrations'),
} as const;
const schemas = ['management', 'relations', 'audit'] as const;

/**
 * SHA-256 of each migration. A process refuses a database whose applied migration has other content: a change needs a
 * new file.
 */
const published = {
  'management/0001-operations.sql': 'a733c736f25c63e18b520a6900c3609e666f90dfa6e8cbbfcfb86b5de89e6944',
  'management/0002-origin.sql': '34985ca98985fbb2b30ba6f5060e4208b97451bad8b32737bfc7d04bb6b2f903',
  'management/0003-first-administrators.sql': '820eba59cf56da8923391347e7e22e94b8f1da713770f64755c0f80c72d3763d',
  'management/0004-failure-cause.sql': '469408708fead3e421d002b2036382c1f68f0b06d00e55ec3743b0f32a37d6c1',
  'management/0005-approvals.sql': '2e265f32fc566fdbe9b4375f7b142d43322bbadcf7ede7fb6accb0f3c0f9c5e2',
  'management/0006-freezes.sql': 'daea34956a8e96fd5ab318b50e2307e24a5df0e9fdb55315cb3b948bbb7c19f6',
  'management/0007-saved-bytes.sql': 'eec1d43ba0460d13532ec5f10df44ea5093a5923f0febc62f3ac881e37cca74a',
  'management/0008-observed-agents.sql': '7b143630bdb73cd453bc64bcd386642f2002eed7683c5fa0ea2a7af94d9ac433',
  'management/0009-observed-bindings.sql': '797d463d418956c492fb9f429ab1c48f42a2a6954eb20a9727fbb6e6839fa19d',
  'management/0010-right-changes.sql': '8a4ee2ad37511bc1b508bdbd70291355bade911adb02050f6d31c7c1c2c32899',
  'management/0011-purges.sql': '5a5906ef3c6bac6d526f0241368c4533f7a568c852f2890086842e7f3da31175',
  'relations/0001-tuples.sql': '176f2f7fc28be9276ce3e99ee2877a05ab775652d3b760f9f7f2aab6ee0d68d8',
  'relations/0002-subjects.sql': '06f6572b43de550152f0e88fd9bf0095f7127621ec2ac4dbcb00a51c15afc7a1',
  'audit/0001-entries.sql': '3cb5101ed4a03235fd600f70f9f7dfb632be6868591492c4a697bb43c3fcf5f2',
  'audit/0002-sources.sql': '0708273fbee0a993abbfbceedb107bb3fbb4fcf4006c0981fe83432e06f110ca',
  'audit/0003-exports.sql': '5f3616d9d429822ffbbc275fee6f7ebb910a51df150a16d9c3333389b59c057e',
  'audit/0004-source-times.sql': '3a39bdb6a3209a0caff819faffab975a79bbfbc8280608a708f686e8d77b1e10',
};

const subject = 'user:http%3A//issuer.test|root-admin';

test('published migrations are unchanged', () => {
  const found = schemas.flatMap((schema) =>
    readdirSync(folders[schema]).map((name) => {
      return [`${schema}/${name}`, sha256Hex(readFileSync(join(folders[schema], name)))];
    }),
  );
  expect(Object.fromEntries(found)).toEqual(published);
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('the tables of the management API'), () => {
  let world: ManagementWorld;
  beforeAll(async () => {
    world = await openManagementWorld({ replicas: 0 });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const sql = () => world.api.database.database.sql;
  const filesOf = (schema: (typeof schemas)[number]): readonly string[] => readdirSync(folders[schema]).sort();

  /** Applies only the first migration of a schema. */
  async function migrateToFirst(schema: (typeof schemas)[number]): Promise<void> {
    using folder = temporaryFolder();
    const [first = ''] = filesOf(schema);
    cpSync(join(folders[schema], first), join(folder.path, first));
    const done = await migrate(world.api.database.database, { schema, folder: pathToFileURL(folder.path) });
    expect(done).toEqual([first]);
  }

  async function rowsOfFirst() {
    const operations = await sql()`
      select operation_id, kind, state, target_type, target_id, trace_id, write, accepted, written_uid,
        written_generation, result, failure_code, failure_message, created_at, updated_at
      from management.operations order by operation_id`;
    const keys = await sql()`
      select subject, key, fingerprint, operation_id, created_at from management.idempotency_keys order by key`;
    const tuples = await sql()`select * from relations.tuples`;
    return { operations: [...operations], keys: [...keys], tuples: tuples.length };
  }

  test('replicas that start concurrently migrate a database with data, and the data remain unchanged', async () => {
    for (const schema of schemas) await migrateToFirst(schema);
    const ended = leftCommand('ended');
    const failed = leftCommand('failed');
    const createdAt = new Date(Date.now() - 3_600_000);
    const { database } = world.api.database;
    await insertCommand(database, ended, { subject, createdAt, state: 'succeeded' });
    await insertCommand(database, failed, { subject, createdAt, state: 'succeeded' });
    await sql()`
      update management.operations set state = 'failed', result = null, failure_code = 'revision_lost',
        failure_message = 'Somebody was faster.' where operation_id = ${failed.operationId}`;
    const before = await rowsOfFirst();
    expect(before.operations).toHaveLength(2);

    await Promise.all([world.api.startReplica(0), world.api.startReplica(1)]);
    for (const schema of schemas) {
      const applied = await sql()`select name from ${sql()(schema)}.migrations order by number`;
      expect(applied.map(({ name }) => name)).toEqual(filesOf(schema));
    }
    const after = await rowsOfFirst();
    expect(after.operations).toEqual(before.operations);
    expect(after.keys).toEqual(before.keys);
    expect(after.tuples).toBeGreaterThan(0);

    for (const replica of [0, 1]) {
      const read = async ({ operationId }: { operationId: string }) =>
        (await world.api.call(`/api/v1/operations/${operationId}`, { replica })).json;
      expect(await read(ended)).toMatchObject({
        kind: 'policy.create',
        state: 'succeeded',
        target: { type: 'policy', id: ended.policyId },
        result: { policyId: ended.policyId, revision: 1 },
        createdAt: createdAt.toISOString(),
      });
      expect(await read(failed)).toMatchObject({ state: 'failed', error: { code: 'revision_lost' } });
      const { key, body } = ended;
      const again = await world.api.command('POST', '/api/v1/guardrail-policies', body, { key, replica });
      expect([again.status, again.json.operationId]).toEqual([202, ended.operationId]);
    }
    expect((await world.createPolicy('afterwards')).id).toMatch(/-7/);
  });

  test('the management database contains keys, operations, approvals, freeze windows, states of agents and models, changes of rights, purges, relations and the audit log only', async () => {
    const tables = await sql()`
      select table_schema || '.' || table_name as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema') order by name`;
    expect(tables.map(({ name }) => name)).toEqual([
      'audit.chains',
      'audit.entries',
      'audit.exports',
      'audit.migrations',
      'audit.sources',
      'management.approval_rules',
      'management.approvals',
      'management.first_administrators',
      'management.freezes',
      'management.idempotency_keys',
      'management.migrations',
      'management.observed_agents',
      'management.observed_bindings',
      'management.operations',
      'management.purges',
      'management.right_changes',
      'relations.migrations',
      'relations.tuples',
    ]);
  });

  test('a new version completes commands that an older version left unfinished', async () => {
    for (const replica of world.api.replicas) await replica.end();
    const open = leftCommand('open');
    await insertCommand(world.api.database.database, open, { subject, createdAt: new Date() });
    await world.api.startReplica(0);
    const { id } = (await world.api.endOf(open.operationId)).target;
    expect((await world.readPolicy(id)).policy.name).toBe('open');
  });

  test.each(schemas)(
    'a database schema that is newer than the program is refused with an error: %s',
    async (schema) => {
      await sql()`insert into ${sql()(schema)}.migrations (number, name, digest)
      values (9999, '9999-of-tomorrow.sql', 'none')`;
      try {
        await expect(world.api.startReplica(2)).rejects.toThrow(
          `schema ${schema} holds 9999-of-tomorrow.sql, which this program does not know: start the newer program`,
        );
      } finally {
        await sql()`delete from ${sql()(schema)}.migrations where number = 9999`;
      }
      await world.api.startReplica(2);
    },
  );
});
