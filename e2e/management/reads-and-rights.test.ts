import { request } from 'node:http';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { servedTable } from '../../operator/management/http/served-table.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer, newKey } from './start-management.ts';

describe.skipIf(missingPostgres !== undefined)(
  onPostgres('reads of the management API, and rights of its writes'),
  () => {
    let world: ManagementWorld;
    beforeAll(async () => {
      world = await openManagementWorld();
    });
    afterAll(() => world[Symbol.asyncDispose]());

    /** A digest of the rows of each table of the management API. */
    async function rowsOf(): Promise<Readonly<Record<string, string>>> {
      const { sql } = world.api.database.database;
      const tables = await sql<{ schema: string; name: string }[]>`
      select schemaname as schema, tablename as name from pg_tables
      where schemaname in ('management', 'relations', 'audit') order by 1, 2`;
      const digests: Record<string, string> = {};
      for (const { schema, name } of tables) {
        const [row] = await sql<{ digest: string }[]>`
        select coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest
        from ${sql(schema)}.${sql(name)} as t`;
        digests[`${schema}.${name}`] = row?.digest ?? '';
      }
      return digests;
    }

    const change = (verb: 'grant' | 'revoke', body: unknown) =>
      world.api.call(`/api/v1/rights/${verb}`, { method: 'POST', body });

    test('no GET changes a resource or a row, and those of a viewer need no other right', async () => {
      const { id } = await world.createPolicy('read-only');
      const modelId = await world.createModel('read-only');
      const { sql } = world.api.database.database;
      await until('the settings of the model are observed', async () => {
        return (
          (await sql`select from management.observed_bindings where name = 'read-only' and generation > 0`).length > 0
        );
      });
      await change('grant', { role: 'viewer', holder: { issuer, subject: 'reader' } });
      const token = await world.api.mint({ subject: 'reader' });
      const values: Readonly<Record<string, string>> = {
        policyId: id,
        modelId,
        revision: '1',
        operationId: uuid(),
        plural: 'guardrailpolicies',
      };
      const [objects, rows] = [JSON.stringify(await world.objects()), await rowsOf()];
      // The refusal of a read is in the audit log.
      const ofReads = (name: string) => !name.startsWith('audit.');
      const gets = servedTable.operations.filter(({ method }) => method === 'GET');
      expect(gets.length).toBeGreaterThan(15);
      const needMore: string[] = [];
      for (const { path, name } of gets) {
        const filled = path.replaceAll(/\{(\w+)\}/g, (_all, key: string) => values[key] ?? 'none');
        const { status } = await world.api.call(filled, { token });
        if (status === 403) needMore.push(name);
        expect([name, status]).toEqual([name, expect.toBeOneOf([200, 400, 403, 404, 503])]);
      }
      expect(needMore.toSorted()).toEqual(['listAudit', 'listAuditChains', 'listRights']);
      const after = await rowsOf();
      const different = Object.keys(rows).filter((name) => ofReads(name) && after[name] !== rows[name]);
      expect(different).toEqual([]);
      expect(JSON.stringify(await world.objects())).toBe(objects);
    });

    test('an overview whose reader loses the right while the request waits for a change is refused', async () => {
      const holder = { issuer, subject: 'waiting-reader' };
      await change('grant', { role: 'viewer', holder });
      const token = await world.api.mint({ subject: 'waiting-reader' });
      const read = async (after: string) => world.api.call(`/api/v1/overview?after=${after}`, { token });
      const mark = await until('nothing changes', async () => {
        const [one, other] = [await world.api.call('/api/v1/overview'), await world.api.call('/api/v1/overview')];
        return one.json.mark === other.json.mark ? String(one.json.mark) : undefined;
      });
      const waiting = read(mark);
      await world.api.call('/api/v1/own-rights', { token });
      await change('revoke', { role: 'viewer', holder });
      await world.createModel('while-an-overview-waits');
      expect((await waiting).status).toBe(403);
    });

    test('a command whose author loses the right while its body is sent is refused, and stores nothing', async () => {
      const holder = { issuer, subject: 'slow-author' };
      await change('grant', { role: 'author', holder });
      const token = await world.api.mint({ subject: 'slow-author' });
      const body = Buffer.from(JSON.stringify({ name: 'too-late', definition: definitionOf('too-late') }));
      const url = `${world.api.replicas[0]?.url}/api/v1/guardrail-policies`;
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': String(body.length),
        'idempotency-key': newKey(),
      };
      const sent = Promise.withResolvers<number | undefined>();
      const sending = request(url, { method: 'POST', headers }, (answer) => {
        answer.resume();
        answer.on('end', () => sent.resolve(answer.statusCode));
      });
      sending.on('error', sent.reject);
      await new Promise<void>((resolve) => {
        sending.write(body.subarray(0, 20), () => resolve());
      });
      // The first question to the store of rights is sent when the headers have arrived.
      await world.api.call('/api/v1/own-rights', { token });
      await change('revoke', { role: 'author', holder });
      sending.end(body.subarray(20));
      expect(await sent.promise).toBe(403);
      const { items } = (await world.api.call('/api/v1/guardrail-policies')).json;
      expect(JSON.stringify(items)).not.toContain('too-late');
    });
  },
);
