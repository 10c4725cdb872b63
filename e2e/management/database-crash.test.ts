import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres, startTestServer } from '#sql/testing/test-database';
import { startModelPlatform } from '../../operator/testing/model-platform.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { type HttpResponse, isTemporary } from './call-api.ts';
import { besidePlatform, newKey, startManagementReplicas } from './start-management.ts';

const list = '/api/v1/guardrail-policies';
const lanes = 6;
const crashes = 3;

describe.skipIf(missingPostgres !== undefined)(onPostgres('commands while the database is killed'), () => {
  test('every accepted command completes and has one effect across crashes of the database', async () => {
    await using parts = new AsyncDisposableStack();
    const folder = parts.use(temporaryFolder()).path;
    let databaseServer = await startTestServer({ folder, listen: `127.0.0.1:${await unusedPort()}` });
    parts.defer(() => databaseServer[Symbol.asyncDispose]());
    const listen = new URL(databaseServer.process.url).host;
    const { platform } = parts.use(await startModelPlatform());
    const beside = besidePlatform(platform.data, platform.operator.apiUrl);
    const api = parts.use(await startManagementReplicas({ ...beside, replicas: 2, databaseServer }));
    const accepted = new Map<string, HttpResponse>();
    const told = new Set<string>();
    const unexpected: string[] = [];
    let count = 0;
    let isOver = false;

    /** Repeats the command with the same key until its outcome is known. */
    async function command(name: string): Promise<void> {
      const body = { name, definition: definitionOf(name) };
      const key = newKey();
      for (let replica = 0; ; replica = 1 - replica) {
        const answer = await api.command('POST', list, body, { key, replica });
        if (answer.status === 202) return void accepted.set(name, answer);
        const code = String(answer.json.error.code);
        told.add(code);
        if (!isTemporary(answer)) return void unexpected.push(`${name}: ${answer.status} ${code}`);
        await pause(50);
      }
    }
    const working = Array.from({ length: lanes }, async () => {
      while (!isOver) await command(`command-${count++}`);
    });
    for (let crash = 0; crash < crashes; crash += 1) {
      const before = accepted.size;
      await until('commands are accepted', () => accepted.size > before + 20);
      const [pid] = readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGKILL');
      await databaseServer.process.exit();
      databaseServer = await startTestServer({ folder, listen });
    }
    const last = accepted.size;
    await until('commands are accepted again', () => accepted.size > last + 20);
    isOver = true;
    await Promise.all(working);

    expect(unexpected).toEqual([]);
    expect(told.size).toBeGreaterThan(0);
    const { items } = await listAll<GuardrailPolicy>(platform.client, kinds.guardrailPolicy);
    expect(accepted.size).toBe(count);
    expect(items.map(({ spec }) => spec.displayName).toSorted()).toEqual([...accepted.keys()].toSorted());
    for (const answer of accepted.values()) expect(await api.ended(answer)).toMatchObject({ state: 'succeeded' });
  });
});
