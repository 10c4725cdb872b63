import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { insertCommand, type LeftCommand, leftCommand } from '../../operator/management/testing/insert-command.ts';
import { type OpenService, openService, subject } from '../../operator/management/testing/open-service.ts';
import { callUrl, sendCommand, untilFinal } from './call-api.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
const often = { recoverEveryMs: 20 };

describe.skipIf(missingPostgres !== undefined)(onPostgres('retention of commands'), () => {
  const holdsKey = async ({ database }: OpenService, { key }: LeftCommand): Promise<boolean> =>
    (await database.database.sql`select from management.idempotency_keys where key = ${key}`).length > 0;

  const holdsOperation = async ({ database }: OpenService, { operationId }: LeftCommand): Promise<boolean> =>
    (await database.database.sql`select from management.operations where operation_id = ${operationId}`).length > 0;

  test('a command that is nearly fifteen minutes old is sent again; an older one is not, and its idempotency key can be used again', async () => {
    await using open = await openService(often);
    const [young, old] = [leftCommand('young'), leftCommand('old')];
    const rows = open.database.database;
    await insertCommand(rows, young, { subject, createdAt: new Date(Date.now() - 14 * minuteMs) });
    await insertCommand(rows, old, { subject, createdAt: new Date(Date.now() - 15 * minuteMs - 1) });
    const ended = ({ operationId }: LeftCommand) =>
      untilFinal((path) => callUrl(`${open.service.url}${path}`, { token: null }), operationId);
    expect(await ended(young)).toMatchObject({ state: 'succeeded', result: { policyId: young.policyId, revision: 1 } });
    expect(await ended(old)).toMatchObject({ state: 'failed', error: { code: 'not_executed' } });
    expect([await holdsKey(open, young), await holdsKey(open, old)]).toEqual([true, false]);
    expect(await open.client.get(kinds.guardrailPolicy, `p-${old.policyId}`)).toBeUndefined();
    expect(await open.client.get(kinds.guardrailPolicy, `p-${young.policyId}`)).toBeDefined();
  });

  test('idempotency keys are kept for seven days, ended operations for thirty days, and open operations indefinitely', async () => {
    const rows = {
      key: leftCommand('kept'),
      oldKey: leftCommand('old-key'),
      operation: leftCommand('operation'),
      oldOperation: leftCommand('old-operation'),
      open: leftCommand('open'),
    };
    await using open = await openService(often);
    const { database } = open.database;
    const looks = async (): Promise<void> => {
      const before = open.clock.asked();
      await until('recovery ran a few times', () => open.clock.asked() >= before + 6);
    };
    await looks();
    const ago = (ms: number) => new Date(Date.now() - ms);
    const edge = 30_000;
    const ended = (createdAt: Date, updatedAt = createdAt) => ({
      subject,
      state: 'succeeded' as const,
      createdAt,
      updatedAt,
    });
    const leasedUntil = new Date(Date.now() + dayMs);
    await insertCommand(database, rows.key, ended(ago(7 * dayMs - edge)));
    await insertCommand(database, rows.oldKey, ended(ago(7 * dayMs + edge)));
    await insertCommand(database, rows.operation, ended(ago(30 * dayMs - edge)));
    await insertCommand(database, rows.oldOperation, ended(ago(30 * dayMs + edge)));
    await insertCommand(database, rows.open, { subject, createdAt: ago(40 * dayMs), leasedUntil });
    // The first run has deleted the expired rows; the next deletion is due after an hour.
    open.clock.advance(3_600_000 - 1);
    await looks();
    expect(await holdsKey(open, rows.oldKey)).toBe(true);
    open.clock.advance(1);
    await until('the old key is deleted', async () => !(await holdsKey(open, rows.oldKey)));
    await until('the old operation is deleted', async () => !(await holdsOperation(open, rows.oldOperation)));
    expect(await holdsKey(open, rows.key)).toBe(true);
    for (const one of [rows.key, rows.oldKey, rows.operation]) expect(await holdsOperation(open, one)).toBe(true);
    expect([await holdsKey(open, rows.open), await holdsOperation(open, rows.open)]).toEqual([true, true]);

    const repeat = ({ key, body }: LeftCommand) =>
      sendCommand(`${open.service.url}/api/v1/guardrail-policies`, 'POST', { key, body });
    expect((await repeat(rows.key)).json.operationId).toBe(rows.key.operationId);
    const anew = await repeat(rows.oldKey);
    expect(anew.status).toBe(202);
    expect(anew.json.operationId).not.toBe(rows.oldKey.operationId);
  });

  test('expired keys are deleted when a process starts', async () => {
    await using open = await openService(often);
    const old = leftCommand('old');
    const createdAt = new Date(Date.now() - 8 * dayMs);
    await insertCommand(open.database.database, old, { subject, createdAt, state: 'succeeded' });
    expect(await holdsKey(open, old)).toBe(true);
    await using _next = await open.startAnother();
    await until('the old key is deleted', async () => !(await holdsKey(open, old)));
  });
});
