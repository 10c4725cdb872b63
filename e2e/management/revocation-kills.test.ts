import { setTimeout as pause } from 'node:timers/promises';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { listAll } from '#kube/client/list-all';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { definitionOf } from '../../operator/testing/objects.ts';
import { policyNameOf } from './actions.ts';
import { applyOf, createOf, leaveCommand, replaceOf } from './leave-command.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { issuer } from './start-management.ts';

const policies = '/api/v1/guardrail-policies';
const roles = ['author', 'applier'] as const;
/** Lease of the commands that a killed process left: the revocation waits for it. */
const leaseSeconds = 3;

/** The moments at which replicas are killed, in the order of a revocation. */
const moments = [
  'before it is asked for',
  'while it waits for stored commands',
  'between its answer and recovery',
] as const;

describe.skipIf(missingPostgres !== undefined)(onPostgres('a revocation while replicas are killed'), () => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await openManagementWorld({ replicas: 2 });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const rights = (verb: 'grant' | 'revoke', role: string, subject: string, replica = 0) =>
    world.api.call(`/api/v1/rights/${verb}`, { method: 'POST', body: { role, holder: { issuer, subject } }, replica });
  const kill = (at: number) => world.api.replicas[at]?.end('SIGKILL');

  /** Revokes the right; returns the answer of the first replica that is alive. */
  async function revoked(role: string, subject: string) {
    return until(`the right ${role} is revoked`, async () => {
      for (const replica of [0, 1]) {
        const answer = await rights('revoke', role, subject, replica).catch(() => undefined);
        if (answer?.status === 200) return answer;
      }
      return undefined;
    });
  }

  /** The objects that commands change: each write increases the generation of its object. */
  async function written(): Promise<readonly string[]> {
    const lists = await Promise.all(
      [kinds.guardrailPolicy, kinds.modelBinding].map((kind) => listAll(world.client, kind)),
    );
    return lists
      .flatMap(({ items }) => items.map(({ metadata }) => `${metadata.name} ${metadata.generation}`))
      .toSorted();
  }

  /** Clients that send commands to both replicas until they are stopped. */
  function sendSteadily(token: string) {
    const answers = { before: [] as number[], after: [] as number[] };
    let isRevoked = false;
    let isOver = false;
    const lanes = Array.from({ length: 6 }, async (_, lane) => {
      while (!isOver) {
        const at = isRevoked ? 'after' : 'before';
        const body = { name: uuid(), definition: definitionOf('x') };
        const sent = world.api.command('POST', policies, body, { token, replica: lane % 2 });
        const status = (await sent.catch(() => undefined))?.status;
        if (status === undefined) await pause(50);
        else answers[at].push(status);
      }
    });
    return {
      answers,
      revoked() {
        isRevoked = true;
      },
      async stop() {
        isOver = true;
        await Promise.all(lanes);
      },
    };
  }

  /** Prepares commands of every kind, which a process stores and is killed before it sends their writes. */
  async function openLeft(subject: string) {
    const name = `of-${subject}`;
    const { id } = await world.createPolicy(name);
    await world.createModel(name);
    const apply = applyOf(await world.binding(name), id, await policyNameOf(world.client, id));
    const rows = [createOf(`left-by-${subject}`), await replaceOf(world.client, id), apply];
    return {
      operations: rows.map(({ operationId }) => operationId),
      /**
       * The accepted commands whose write was recorded; the operation on the model ends later, when the operator has
       * applied it.
       */
      async completed(): Promise<ReadonlySet<string>> {
        const { sql } = world.api.database.database;
        const found = await sql<{ id: string }[]>`
          select operation_id as id from management.operations
          where accepted and operation_id = any(${sql.array(rows.map((row) => row.operationId))}::uuid[])`;
        return new Set(found.map(({ id }) => id));
      },
      async store(seconds: number) {
        for (const row of rows) await leaveCommand(world.api, { ...row, subject, leaseSeconds: seconds });
      },
    };
  }

  test.each(moments)('no command takes effect after its answer when replicas are killed %s', async (moment) => {
    const subject = `racer-${moments.indexOf(moment)}`;
    for (const role of roles) expect((await rights('grant', role, subject)).status).toBe(200);
    const left = await openLeft(subject);
    const clients = sendSteadily(await world.api.mint({ subject }));
    await until('commands are accepted', () => clients.answers.before.length > 10);
    const killed: number[] = [];
    if (moment === 'before it is asked for') {
      killed.push(1);
      await kill(1);
    }
    if (moment !== 'between its answer and recovery')
      await left.store(moment === 'while it waits for stored commands' ? 300 : leaseSeconds);
    if (moment === 'while it waits for stored commands') {
      const cut = rights('revoke', 'applier', subject).then(
        ({ status }) => status,
        () => 'no answer',
      );
      const { sql } = world.api.database.database;
      await until('the relation is removed', async () => {
        const held = await sql`
            select from relations.tuples where relation = 'applier' and subject like ${`%|${subject}`}`;
        return held.length === 0;
      });
      killed.push(0);
      await kill(0);
      await sql`
        update management.operations set leased_until = clock_timestamp() + ${leaseSeconds} * interval '1 second'
        where operation_id = any(${sql.array([...left.operations])}::uuid[])`;
      expect(await cut).toBe('no answer');
    }
    for (const role of roles) await revoked(role, subject);
    clients.revoked();
    const atAnswer = await written();
    const completed = await left.completed();
    if (moment === 'between its answer and recovery') {
      killed.push(0, 1);
      await Promise.all(killed.map(kill));
      await left.store(-1);
    }
    for (const at of killed) await world.api.startReplica(at);
    for (const operationId of left.operations) {
      // On a slow machine the lease of a stored command ends before the answer, and the other replica sends its write.
      const end = completed.has(operationId)
        ? { state: 'succeeded' }
        : { state: 'failed', error: { code: 'not_executed' } };
      expect(await world.api.endOf(operationId)).toMatchObject(end);
    }
    await until('commands are refused', () => clients.answers.after.length > 20);
    await clients.stop();
    const { before, after } = clients.answers;
    expect([new Set(before).has(202), new Set(after)]).toEqual([true, new Set([403])]);
    await until('no command is open', async () => {
      const { sql } = world.api.database.database;
      return (
        (await sql`select from management.operations where not accepted and state in ('pending', 'running')`).length ===
        0
      );
    });
    expect(await written()).toEqual(atAnswer);
  });
});
