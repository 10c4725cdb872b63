import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { type AuditEntry, auditEntrySchema } from '#contracts/audit';
import { createAuditVerifier } from '#contracts/verify-audit';
import type { Logger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { answers, type ScriptedHttp, type SeenRequest, silence, startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { auditExportOf } from '../audit-settings.ts';
import { exportBatch } from '../export-entries.ts';
import { createAuditExportMetrics } from '../export-metrics.ts';
import { auditContent } from '../testing/audit-content.ts';
import { type OpenedAuditExport, openAuditExport } from './open-audit-export.ts';
import { openPostgresAudit } from './postgres/postgres-audit.ts';

const key = 'a-key-of-a-webhook-of-this-test';
const token = 'a-token-of-a-collector-of-this-test';
const times = { pollMs: 10, firstBackoffMs: 10, mostBackoffMs: 20, leaseMs: 60_000 };

/** A database with the log, files with the secrets, and a log of lines. */
async function openParts() {
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await openTestDatabase());
  const log = await openPostgresAudit(database.database, 'one');
  const folder = parts.use(temporaryFolder());
  const secretFile = join(folder.path, 'key');
  const tokenFile = join(folder.path, 'token');
  await writeFile(secretFile, key);
  await writeFile(tokenFile, token);
  const lines: string[] = [];
  const write = (event: string, fields: unknown = {}): void => void lines.push(`${event} ${JSON.stringify(fields)}`);
  const logger = { debug: write, info: write, warn: write, error: write } as unknown as Logger;
  const registry = createMetrics({ service: 'one' });
  const metrics = createAuditExportMetrics(registry);
  const owned = parts.move();
  const open = (
    to: { readonly webhook?: string; readonly otlp?: string },
    {
      holder = 'first',
      leaseMs = times.leaseMs,
      of = database,
    }: { holder?: string; leaseMs?: number; of?: TestDatabase } = {},
  ): OpenedAuditExport =>
    openAuditExport(
      {
        webhook: to.webhook === undefined ? undefined : { url: new URL('/hook', to.webhook), secretFile },
        otlp: to.otlp === undefined ? undefined : { url: new URL('/v1/logs', to.otlp), tokenFile },
      },
      {
        database: of.database,
        chain: 'one',
        holder,
        metrics,
        clock: systemClock,
        logger,
        times: { ...times, leaseMs },
      },
    );
  const scraped = (): Promise<string> => registry.exposition();
  // The position is stored after the answer of the receiver.
  const stored = async (entries: number): Promise<void> => {
    const counted = /portcullis_audit_exported_entries_total\{receiver="webhook",.*\} (\d+)/;
    await until(`${entries} entries are stored`, async () => counted.exec(await scraped())?.[1] === `${entries}`);
  };
  return { database, log, open, lines, scraped, stored, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Entries of the answered deliveries of a webhook, in the order of their arrival. */
function entriesOf(seen: readonly SeenRequest[]): readonly AuditEntry[] {
  return seen.flatMap(({ text }) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => auditEntrySchema.parse(JSON.parse(line))),
  );
}

const numbersOf = (seen: readonly SeenRequest[]): readonly number[] => entriesOf(seen).map(({ number }) => number);
const upTo = (most: number): readonly number[] => Array.from({ length: most }, (_, at) => at + 1);

async function arrived(receiver: ScriptedHttp, number: number): Promise<void> {
  await until(`the entry ${number} arrived`, async () => numbersOf(receiver.seen).at(-1) === number);
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the export of the audit log'), () => {
  test('a webhook gets every entry in order, signed, and the chain can be proved from the received entries', async () => {
    await using parts = await openParts();
    const { log } = parts;
    await log.write(upTo(2 * exportBatch + 1).map((number) => auditContent(number)));
    await using receiver = await startScriptedHttp(answers({}));
    await using _ = parts.open({ webhook: receiver.url });
    await arrived(receiver, 2 * exportBatch + 1);
    await log.write([auditContent(1_000)]);
    await arrived(receiver, 2 * exportBatch + 2);
    expect(numbersOf(receiver.seen)).toEqual(upTo(2 * exportBatch + 2));
    const webhook = new Webhook(key, { format: 'raw' });
    for (const { text, headers, path } of receiver.seen) {
      expect(path).toBe('/hook');
      webhook.verify(text, headers as Record<string, string>, { jsonParse: false } as never);
    }
    const verifier = createAuditVerifier(await log.chains());
    for (const entry of entriesOf(receiver.seen)) verifier.add(entry);
    expect(verifier.end()).toEqual([]);
  });

  test('a failed delivery of audit entries is repeated with the same id until it is stored, and no entry is omitted', async () => {
    await using parts = await openParts();
    await parts.log.write([auditContent(1), auditContent(2)]);
    await using receiver = await startScriptedHttp(answers({}, 503));
    await using _ = parts.open({ webhook: receiver.url });
    await until('three attempts', async () => receiver.seen.length >= 3);
    await parts.log.write([auditContent(3)]);
    const [first, second] = receiver.seen;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    receiver.play((response) => {
      receiver.forget();
      receiver.play(answers({}));
      response.writeHead(400).end();
    });
    await arrived(receiver, 3);
    expect(numbersOf(receiver.seen)).toEqual([1, 2, 3]);
    expect(parts.lines).toContain('audit_export_failed {"receiver":"webhook","reason":"status 503"}');
    await parts.stored(3);
  });

  test('a webhook gets the same numbers of an audit log under another id where the entries differ, as after a restored dump', async () => {
    const idsOf = async (second: number): Promise<readonly unknown[]> => {
      await using parts = await openParts();
      await using receiver = await startScriptedHttp(answers({}));
      await parts.log.write([auditContent(1)]);
      await using _ = parts.open({ webhook: receiver.url });
      await arrived(receiver, 1);
      await parts.log.write([auditContent(second)]);
      await arrived(receiver, 2);
      return receiver.seen.map(({ headers }) => headers['webhook-id']);
    };
    const [one, two] = await idsOf(2);
    expect(one).toMatch(/^one-1-1-[0-9a-f]{16}$/);
    expect(await idsOf(2)).toEqual([one, two]);
    const [same, other] = await idsOf(3);
    expect(same).toBe(one);
    expect(other).toMatch(/^one-2-2-[0-9a-f]{16}$/);
    expect(other).not.toBe(two);
  });

  test('an audit exporter that starts later continues after the last stored entry', async () => {
    await using parts = await openParts();
    await using receiver = await startScriptedHttp(answers({}));
    await parts.log.write([auditContent(1)]);
    {
      await using _ = parts.open({ webhook: receiver.url });
      await arrived(receiver, 1);
      await parts.stored(1);
    }
    await parts.log.write([auditContent(2)]);
    await using _ = parts.open({ webhook: receiver.url }, { holder: 'second' });
    await arrived(receiver, 2);
    expect(numbersOf(receiver.seen)).toEqual([1, 2]);
  });

  test('one of two replicas delivers audit entries; after the lease of a killed one the other resends the entries whose position was not stored', async () => {
    await using parts = await openParts();
    const { sql } = parts.database.database;
    await parts.log.write([auditContent(1)]);
    await using receiver = await startScriptedHttp(answers({}));
    await using _first = parts.open({ webhook: receiver.url });
    await arrived(receiver, 1);
    await using _second = parts.open({ webhook: receiver.url }, { holder: 'second' });
    for (const number of [2, 3, 4]) await parts.log.write([auditContent(number)]);
    await arrived(receiver, 4);
    expect(numbersOf(receiver.seen)).toEqual([1, 2, 3, 4]);
    const [row] = await sql<{ holder: string }[]>`select holder from audit.exports`;
    expect(row?.holder).toBe('first');
    // The state after a process was killed between the storage of an entry by the receiver and the move of the
    // position.
    await _first[Symbol.asyncDispose]();
    await sql`update audit.exports set number = 3, holder = 'killed', leased_until = now() + interval '300 milliseconds'`;
    await parts.log.write([auditContent(5)]);
    await arrived(receiver, 5);
    expect(numbersOf(receiver.seen)).toEqual([1, 2, 3, 4, 4, 5]);
  });

  test('no writer waits for an audit receiver that never answers, and neither does an orderly shutdown', async () => {
    await using parts = await openParts();
    await using receiver = await startScriptedHttp(silence);
    const exported = parts.open({ webhook: receiver.url, otlp: receiver.url });
    await parts.log.write([auditContent(1, { time: new Date(Date.now() - 3_600_000).toISOString() })]);
    await until('both receivers were asked', async () => receiver.seen.length >= 2);
    for (let number = 2; number <= 40; number++) await parts.log.write([auditContent(number)]);
    await exported.measure();
    await exported[Symbol.asyncDispose]();
    const text = await parts.scraped();
    const lags = [...text.matchAll(/^portcullis_audit_export_lag_seconds\{.*\} (\S+)$/gm)].map(([, value]) =>
      Number(value),
    );
    expect(lags).toHaveLength(2);
    for (const lag of lags) expect(lag).toBeGreaterThan(3_590);
  });

  test('a collector gets log records with a token, and rejected records are sent again', async () => {
    await using parts = await openParts();
    await parts.log.write([auditContent(1)]);
    await using receiver = await startScriptedHttp(answers({ partialSuccess: { rejectedLogRecords: '1' } }));
    await using exported = parts.open({ otlp: receiver.url });
    await until('two attempts', async () => receiver.seen.length >= 2);
    expect(parts.lines).toContain('audit_export_failed {"receiver":"otlp","reason":"1 records were rejected"}');
    receiver.play(answers({ partialSuccess: {} }));
    await until('the collector has the entry', async () => {
      await exported.measure();
      return (await parts.scraped()).match(/portcullis_audit_export_lag_seconds\{receiver="otlp",.*\} 0$/m);
    });
    const [{ path, headers, text } = { path: '', headers: {}, text: '{}' }] = receiver.seen;
    expect([path, headers.authorization]).toEqual(['/v1/logs', `Bearer ${token}`]);
    const [{ scopeLogs }] = JSON.parse(text).resourceLogs;
    expect(JSON.parse(scopeLogs[0].logRecords[0].body.stringValue).content.target.id).toBe('policy-1');
  });

  test('entries that retention removed before a receiver had them are counted in the log, and later ones arrive', async () => {
    await using parts = await openParts();
    await parts.log.write([auditContent(1), auditContent(2), auditContent(5_000)]);
    await parts.log.retain(new Date('2026-01-01T00:00:01Z'), new Date('2026-01-01T00:00:06Z'));
    await using receiver = await startScriptedHttp(answers({}));
    await using _ = parts.open({ webhook: receiver.url });
    await arrived(receiver, 4);
    expect(numbersOf(receiver.seen)).toEqual([3, 4]);
    expect(parts.lines).toEqual(['audit_export_missed {"receiver":"webhook","entries":2}']);
  });

  test('log lines of a receiver hold neither its address nor a secret', async () => {
    await using parts = await openParts();
    await parts.log.write([auditContent(1)]);
    await using _ = parts.open({ webhook: 'http://127.0.0.1:9/?secret-of-the-url' });
    await until('an attempt failed', () => parts.lines.length > 0);
    expect(parts.lines[0]).toBe('audit_export_failed {"receiver":"webhook","reason":"no answer"}');
  });
});

test('a webhook without a key is refused at the start', () => {
  const none = {
    PORTCULLIS_AUDIT_WEBHOOK_URL: undefined,
    PORTCULLIS_AUDIT_WEBHOOK_SECRET_FILE: undefined,
    PORTCULLIS_AUDIT_OTLP_URL: undefined,
    PORTCULLIS_AUDIT_OTLP_TOKEN_FILE: undefined,
  };
  expect(auditExportOf(none)).toEqual({ webhook: undefined, otlp: undefined });
  const url = new URL('http://receiver.test');
  expect(() => auditExportOf({ ...none, PORTCULLIS_AUDIT_WEBHOOK_URL: url })).toThrow(/SECRET_FILE is missing/);
  expect(auditExportOf({ ...none, PORTCULLIS_AUDIT_OTLP_URL: url }).otlp).toEqual({ url, tokenFile: undefined });
});
