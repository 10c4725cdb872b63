import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { KubeError } from '#kube/client/kube-error';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { insertCommand, leftCommand } from '../../operator/management/testing/insert-command.ts';
import { type OpenService, openService, subject } from '../../operator/management/testing/open-service.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { callUrl, type HttpResponse, sendCommand } from './call-api.ts';

const list = '/api/v1/guardrail-policies';

type Sent = { readonly key: string; readonly etag?: string; readonly body: unknown };

function send({ service }: OpenService, method: 'POST' | 'PUT', path: string, sent: Sent): Promise<HttpResponse> {
  return sendCommand(`${service.url}${path}`, method, sent);
}

const quiet = { recoverEveryMs: 3_600_000, sweepMs: 3_600_000 };

/** Sends a command whose answer is delayed. */
function sendAndWatch(open: OpenService, command: { readonly key: string; readonly body: unknown }) {
  let answer: HttpResponse | undefined;
  const answered = send(open, 'POST', list, command).then((found) => {
    answer = found;
    return found;
  });
  return {
    answered,
    isAnswered: () => answer !== undefined,
    /** Each read or write of the operation's row reads the clock once; an idle process does not read it. */
    async looks(count: number): Promise<void> {
      const before = open.clock.asked();
      await until('the row of the operation was read again', () => open.clock.asked() >= before + count);
    },
  };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('a repetition of a command that is in flight'), () => {
  /** A command in flight on another replica, and its repetition on this replica, which waits for it. */
  async function repeatInFlight(open: OpenService) {
    const command = leftCommand();
    const leasedUntil = new Date(Date.now() + 3_600_000);
    await insertCommand(open.database.database, command, { subject, createdAt: new Date(), leasedUntil });
    const { looks, ...sent } = sendAndWatch(open, command);
    await looks(8);
    return { command, looks, ...sent };
  }

  test('a repeated command waits up to ten seconds and gets the answer of the command in flight', async () => {
    await using open = await openService(quiet);
    const { command, answered, looks, isAnswered } = await repeatInFlight(open);
    open.clock.advance(9_999);
    await looks(4);
    expect(isAnswered()).toBe(false);
    await open.database.database.sql`
      update management.operations set accepted = true, state = 'running' where operation_id = ${command.operationId}`;
    const answer = await answered;
    expect([answer.status, answer.json.operationId]).toEqual([202, command.operationId]);
    expect(answer.headers['location']).toBe(`/api/v1/operations/${command.operationId}`);
  });

  test('a repeated command is refused with idempotency_in_progress and Retry-After after ten seconds', async () => {
    await using open = await openService(quiet);
    const { answered, looks, isAnswered } = await repeatInFlight(open);
    open.clock.advance(9_999);
    await looks(4);
    expect(isAnswered()).toBe(false);
    open.clock.advance(1);
    const answer = await answered;
    expect([answer.status, answer.json.error.code]).toEqual([409, 'idempotency_in_progress']);
    expect(answer.headers['retry-after']).toBe('1');
  });

  test('a repeated command is refused with idempotency_in_progress and Retry-After after ten seconds', async () => {
    await using open = await openService(quiet);
    const { command } = await repeatInFlight(open);
    const { sql } = open.database.database;
    await sql`update management.operations set accepted = true, state = 'running'`;
    const other = await send(open, 'POST', list, { key: command.key, body: { ...command.body, name: 'other' } });
    expect([other.status, other.json.error.code]).toEqual([409, 'idempotency_key_reused']);
  });
});

test.skipIf(missingPostgres !== undefined)(
  onPostgres(
    'a write that an overloaded API server did not execute is sent again, and its ETag is not reported as stale',
  ),
  async () => {
    let undecided = 3;
    await using open = await openService({
      wrapClient: (client) => ({
        ...client,
        patch(...args) {
          if (undecided-- > 0) throw new KubeError('conflict', 'the object was modified');
          return client.patch(...args);
        },
      }),
    });
    const body = { name: 'busy', definition: definitionOf('busy') };
    const made = await send(open, 'POST', list, { key: 'key-of-the-first-one', body });
    const path = `${list}/${made.json.target.id}`;
    const etag = String((await callUrl(`${open.service.url}${path}`, { token: null })).headers['etag']);
    const more = { key: 'key-of-the-second-one', etag, body: { ...body, status: 'draft' } };
    expect((await send(open, 'PUT', path, more)).status).toBe(202);
    expect(undecided).toBeLessThan(0);
    expect((await send(open, 'PUT', path, { ...more, key: 'key-of-the-third-one' })).status).toBe(412);
  },
);

describe.skipIf(missingPostgres !== undefined)(
  onPostgres('a write that is accepted while the database does not respond'),
  () => {
    const body = { name: 'noted', definition: definitionOf('noted') };
    const rename = (open: OpenService, from: string, to: string) =>
      open.database.database.sql.unsafe(`alter table management.${from} rename to ${to}`);

    /** A command whose database row cannot be updated after its write. */
    async function writeUnnoted() {
      let takeAway = async (): Promise<unknown> => undefined;
      const service = await openService({
        ...quiet,
        wrapClient: (client) => ({
          ...client,
          async create(...args) {
            const made = await client.create(...args);
            await takeAway();
            return made;
          },
        }),
      });
      let isAway = false;
      takeAway = async () => {
        takeAway = () => Promise.resolve();
        await rename(service, 'operations', 'away');
        isAway = true;
      };
      const { looks, ...sent } = sendAndWatch(service, { key: 'key-of-the-unnoted', body });
      await until('the row was taken away', () => isAway);
      await looks(2);
      return { service, looks, ...sent };
    }

    test('an accepted write is recorded when the database answers again within six seconds', async () => {
      const { service, answered, looks, isAnswered } = await writeUnnoted();
      await using _service = service;
      service.clock.advance(5_999);
      await looks(2);
      expect(isAnswered()).toBe(false);
      await rename(service, 'away', 'operations');
      const { status, json } = await answered;
      expect(status).toBe(202);
      const read = await callUrl(`${service.service.url}/api/v1/operations/${json.operationId}`, { token: null });
      expect(read.json).toMatchObject({ state: 'succeeded', operationId: json.operationId });
    });

    test('an accepted write is left to recovery after six seconds and its client gets 503', async () => {
      const { service, answered } = await writeUnnoted();
      await using _service = service;
      service.clock.advance(6_000);
      const { status, json } = await answered;
      expect([status, json.error.code]).toEqual([503, 'records_unavailable']);
    });
  },
);
