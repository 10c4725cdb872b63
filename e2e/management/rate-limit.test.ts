import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { definitionOf } from '../../operator/testing/objects.ts';
import type { HttpResponse } from './call-api.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer } from './start-management.ts';

const list = '/api/v1/guardrail-policies';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a subject beyond its limit'), () => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await openManagementWorld();
    for (const subject of ['fast', 'writer', 'other']) {
      const body = { role: 'administrator', holder: { issuer, subject } };
      expect((await world.api.call('/api/v1/rights/grant', { method: 'POST', body })).status).toBe(200);
    }
    await world.api.replicas[0]?.end();
    // The limit is ten requests at once, and then one request in ten seconds.
    await world.api.startReplica(0, { PORTCULLIS_REQUESTS_PER_MINUTE: '60' });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const statusesOf = (answers: readonly HttpResponse[]): readonly number[] => answers.map(({ status }) => status);

  test('a subject beyond its limit is answered 429 with retry-after, and other subjects are not', async () => {
    const token = await world.api.mint({ subject: 'fast' });
    const begun = performance.now();
    const answers = await Promise.all(Array.from({ length: 40 }, () => world.api.call(list, { token })));
    const seconds = Math.floor((performance.now() - begun) / 1_000);
    const refused = answers.filter(({ status }) => status !== 200);
    // The limit is ten at once, and one more for each second by which a busy machine is late.
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(10);
    expect(answers.length - refused.length).toBeLessThanOrEqual(10 + seconds);
    expect(refused.length).toBeGreaterThan(0);
    const told = refused.map(({ status, json, headers }) =>
      [status, json.error.code, headers['retry-after']].join(' '),
    );
    expect(new Set(told)).toEqual(new Set(['429 rate_limited 1']));
    const other = await world.api.mint({ subject: 'other' });
    expect((await world.api.call(list, { token: other })).status).toBe(200);
  });

  test('a subject sends one command for ten requests, and a refused command leaves its key free and changes nothing', async () => {
    const token = await world.api.mint({ subject: 'writer' });
    const send = (key: string) =>
      world.api.command('POST', list, { name: 'limited', definition: definitionOf('limited') }, { key, token });
    expect((await send('first-command-key')).status).toBe(202);
    const refused = await send('second-command-key');
    expect([refused.status, refused.json.error.code]).toEqual([429, 'rate_limited']);
    const held = await world.api.database.database.sql`
      select key from management.idempotency_keys where key = 'second-command-key'`;
    expect(held).toHaveLength(0);
    const refusals = await world.api.call('/api/v1/audit?outcome=refused');
    expect(refusals.text).toContain('"code":"rate_limited"');
  });

  test('refused requests without an identity add a bounded number of lines to the log', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => world.api.call(list, { token: null })));
    expect(new Set(statusesOf(answers))).toEqual(new Set([401]));
    const lines = (world.api.replicas[0]?.log() ?? '').split('\n').filter((line) => line.includes('unauthenticated'));
    expect(lines).toHaveLength(20);
  });
});
