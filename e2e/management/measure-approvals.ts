import { setTimeout as pause } from 'node:timers/promises';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { definitionOf } from '../../operator/testing/objects.ts';
import { policyNameOf } from './actions.ts';
import type { HttpResponse } from './call-api.ts';
import type { BusyWorld } from './open-busy-world.ts';
import { issuer, newKey } from './start-management.ts';

const model = 'raced';
const senders = 4;
const commandsOfSender = 3;
const againsts = ['revocation', 'expiry', 'edit', 'nothing'] as const;
type Against = (typeof againsts)[number];

type RaceOptions = {
  readonly rounds: number;
  /** Share of the rounds in which a replica is killed. */
  readonly killed: number;
  readonly random: () => number;
};

type RaceReport = {
  readonly rounds: Readonly<Record<Against, number>>;
  readonly kills: number;
  readonly sent: number;
  readonly accepted: number;
  readonly faults: readonly string[];
};

/**
 * One person approves an application while another person sends it, through both replicas. Meanwhile the right of the
 * approver is revoked, the approval expires or the model is edited, and replicas are killed. Each accepted command must
 * have used a valid approval of exactly its content.
 */
export async function raceApprovals(world: BusyWorld, { rounds, killed, random }: RaceOptions): Promise<RaceReport> {
  const race = await openRace(world);
  const report = { rounds: { revocation: 0, expiry: 0, edit: 0, nothing: 0 }, kills: 0, sent: 0, accepted: 0 };
  const faults: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const against = againsts[Math.floor(random() * againsts.length)] ?? 'nothing';
    const victim = random() < killed ? Math.floor(random() * 2) : undefined;
    const found = await race.run(against, { revision: 1 + (round % 2), victim, killAfterMs: random() * 150 });
    report.rounds[against] += 1;
    report.kills += victim === undefined ? 0 : 1;
    report.sent += found.sent;
    report.accepted += found.accepted;
    faults.push(...found.faults.map((fault) => `round ${round} with ${against}: ${fault}`));
  }
  faults.push(...(await race.judge()));
  return { ...report, faults };
}

async function openRace(world: BusyWorld) {
  const { api, act, client } = world;
  const { id } = await act.createPolicy(model, definitionOf(model));
  await act.savePolicy(id, { definition: definitionOf(`${model}-2`) });
  const modelId = await act.createModel(model);
  const path = `/api/v1/models/${modelId}/guardrail-binding`;
  const tokens = { asker: await api.mint({ subject: 'asker' }), approver: await api.mint({ subject: 'approver' }) };
  const right = (verb: 'grant' | 'revoke', subject: string) =>
    answered(world, `/api/v1/rights/${verb}`, { role: 'applier', holder: { issuer, subject } });
  await right('grant', 'asker');
  await answered(world, '/api/v1/approval-rules/require', { modelId });

  const binding = () => act.binding(model);
  /** An edit over the resources: the approvals of the state before it are no longer valid. */
  async function edit(): Promise<void> {
    const { guardrail } = (await binding()).spec;
    const revision = guardrail.mode === 'None' ? 1 : 3 - guardrail.policyRef.revision;
    const value = { mode: 'Policy', policyRef: { name: await policyNameOf(client, id), revision } };
    await client.patch(kinds.modelBinding, model, [{ op: 'replace', path: '/spec/guardrail', value }]);
  }

  function ask(revision: number, etag: string, replica: number, key = newKey()): Promise<HttpResponse> {
    const body = { policyId: id, policyRevision: revision, contentProfile: currentProfile };
    return api.command('PUT', path, body, { etag, token: tokens.asker, replica, key });
  }

  async function requestOf(revision: number, etag: string): Promise<string> {
    const { json } = await until('the request is answered', async () => {
      const answer = await ask(revision, etag, 0);
      return answer.status === 409 ? answer : undefined;
    });
    return String(json.error.details[0].path).replace('/approvals/', '');
  }

  async function run(
    against: Against,
    round: { readonly revision: number; readonly victim: number | undefined; readonly killAfterMs: number },
  ) {
    const { sql } = api.database.database;
    const { revision, victim } = round;
    await right('grant', 'approver');
    const etag = String((await until('the request is answered', () => api.call(path))).headers['etag']);
    const request = await requestOf(revision, etag);
    let isRevoked = false;
    const found = { sent: 0, accepted: 0, faults: [] as string[] };
    const sending = Array.from({ length: senders }, async (_, at) => {
      for (let count = 0; count < commandsOfSender; count++) {
        const wasRevoked = isRevoked;
        const asked = at === senders - 1 ? 3 - revision : revision;
        const answer = await ask(asked, etag, at % 2).catch(() => undefined);
        found.sent += 1;
        if (answer?.status !== 202) continue;
        found.accepted += 1;
        if (wasRevoked) found.faults.push('a command was accepted after the right of its approver was revoked');
      }
    });
    const acts: Readonly<Record<Against, () => Promise<unknown>>> = {
      revocation: async () => {
        await right('revoke', 'approver');
        isRevoked = true;
      },
      expiry: () => sql`update management.approvals set expires_at = clock_timestamp() where approval_id = ${request}`,
      edit,
      nothing: async () => undefined,
    };
    const approve = (replica: number) =>
      api.call(`/api/v1/approvals/${request}/approve`, { method: 'POST', token: tokens.approver, replica });
    const kill = async () => {
      if (victim === undefined) return;
      await pause(round.killAfterMs);
      api.replicas[victim]?.signal('SIGKILL');
      await api.startReplica(victim);
    };
    const approving = approve(victim === undefined ? 0 : 1 - victim).catch(() => undefined);
    await Promise.all([...sending, approving, acts[against](), kill()]);
    return found;
  }

  /**
   * Every accepted command on the model used an approval by another person of exactly its content, which was valid when
   * the command was stored.
   */
  async function judge(): Promise<readonly string[]> {
    const { sql } = api.database.database;
    await until('the request is answered', async () => {
      const open = await sql`select from management.operations where state in ('pending', 'running')`;
      return open.length === 0 ? true : undefined;
    });
    const rows = await sql<{ id: string }[]>`
      select operation_id as id from management.operations o
      where o.accepted and o.target_id = ${modelId} and not exists (
        select from management.approvals a where a.used_by = o.operation_id and a.target_id = o.target_id
          and a.approver <> a.requester and date_trunc('milliseconds', a.approved_at) <= o.created_at
          and a.expires_at >= o.created_at
          and a.after::jsonb ->> 'revision' = (o.origin::jsonb -> 'after' ->> 'revision'))`;
    return rows.map((row) => `${row.id} was accepted without a valid approval of its content`);
  }

  return { run, judge };
}

/** Sends a command of the administrator to one replica after another until the command has taken effect. */
async function answered({ api }: BusyWorld, path: string, body: unknown): Promise<void> {
  await until('the request is answered', async () => {
    for (const replica of [0, 1]) {
      const answer = await api.call(path, { method: 'POST', body, replica }).catch(() => undefined);
      if (answer?.status === 200) return true;
    }
    return undefined;
  });
}
