import { setTimeout as pause } from 'node:timers/promises';
import { until } from '#kit/testing/until';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { definitionOf } from '../../operator/testing/objects.ts';
import type { BusyWorld } from './open-busy-world.ts';
import { issuer } from './start-management.ts';

const list = '/api/v1/guardrail-policies';
const lanes = 6;
/** Commands that are accepted before a right is revoked, and refused after it. */
const leastAnswers = 10;

type RevocationOptions = {
  readonly rounds: number;
  /** Duration of occasional SIGSTOPs of a replica, milliseconds; the lease of a command is 20 s. */
  readonly longStopMs: number;
  readonly random: () => number;
};

type RevocationReport = {
  readonly rounds: number;
  readonly accepted: number;
  /** Commands that were sent after the answer of a revocation. */
  readonly sentAfter: number;
  readonly kills: number;
  readonly stops: number;
  /** Revocations that were answered with 503 first, because a stored command had not ended. */
  readonly repeated: number;
  readonly faults: readonly string[];
};

/**
 * Clients of one author send commands to both replicas. One replica is killed or stopped at a random moment, sometimes
 * for longer than a lease, and the other replica revokes the right: after the answer to the revocation, no command may
 * take effect.
 */
export async function revokeThroughTrouble(world: BusyWorld, options: RevocationOptions): Promise<RevocationReport> {
  const report = { accepted: 0, sentAfter: 0, kills: 0, stops: 0, repeated: 0 };
  const faults: string[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const found = await revokeOnce(world, `revoked-${round}`, options);
    report.accepted += found.accepted;
    report.sentAfter += found.sentAfter;
    report[found.isKill ? 'kills' : 'stops'] += 1;
    report.repeated += found.repeated;
    faults.push(...found.faults.map((fault) => `round ${round}: ${fault}`));
  }
  return { rounds: options.rounds, ...report, faults };
}

async function revokeOnce(world: BusyWorld, subject: string, { random, longStopMs }: RevocationOptions) {
  const { api } = world;
  await changeRight(world, 'grant', subject, 0);
  const clients = sendSteadily(world, subject, await api.mint({ subject }));
  await until(
    'enough commands are accepted',
    () => clients.before.filter((status) => status === 202).length >= leastAnswers,
  );
  const victim = random() < 0.5 ? 0 : 1;
  const isKill = random() < 0.5;
  await pause(random() * 300);
  const replica = api.replicas[victim];
  replica?.signal(isKill ? 'SIGKILL' : 'SIGSTOP');
  const stopMs = random() < 0.2 ? longStopMs : random() * 2_000;
  const continued = isKill ? Promise.resolve() : pause(stopMs).then(() => replica?.signal('SIGCONT'));
  await pause(random() * 200);
  const repeated = await changeRight(world, 'revoke', subject, 1 - victim);
  clients.revoked();
  const atAnswer = await policiesOf(world, subject);
  await continued;
  if (isKill) await api.startReplica(victim);
  await until('enough commands are answered after the revocation', () => clients.after.length >= leastAnswers);
  await clients.stop();
  await until('every stored command has ended', async () => {
    const rows = await api.database.database.sql`
      select from management.operations where not accepted and state in ('pending', 'running')`;
    return rows.length === 0;
  });
  const late = (await policiesOf(world, subject)).filter((name) => !atAnswer.includes(name));
  const faults = late.map((name) => `${name} was written after the answer`);
  faults.push(...clients.after.filter((status) => status === 202).map(() => 'a later command was accepted'));
  const accepted = clients.before.filter((status) => status === 202).length;
  return { accepted, sentAfter: clients.after.length, isKill, repeated, faults };
}

/** @returns how often the status of the answer was not 200 */
async function changeRight(
  { api }: BusyWorld,
  verb: 'grant' | 'revoke',
  subject: string,
  replica: number,
): Promise<number> {
  const body = { role: 'author', holder: { issuer, subject } };
  let repeated = 0;
  await until('the right is changed', async () => {
    const { status } = await api.call(`/api/v1/rights/${verb}`, { method: 'POST', body, replica });
    if (status !== 200) repeated += 1;
    return status === 200;
  });
  return repeated;
}

/** Sends creations of policies that are named after the subject. A request without an answer is sent again. */
function sendSteadily({ api }: BusyWorld, subject: string, token: string) {
  const answers = { before: [] as number[], after: [] as number[] };
  let isRevoked = false;
  let isOver = false;
  let count = 0;
  const sending = Array.from({ length: lanes }, async (_, lane) => {
    while (!isOver) {
      const at = isRevoked ? 'after' : 'before';
      const body = { name: `${subject}.${count++}`, definition: definitionOf('steady') };
      const sent = api.command('POST', list, body, { token, replica: lane % 2 });
      const status = (await sent.catch(() => undefined))?.status;
      if (status !== undefined) answers[at].push(status);
      await pause(20);
    }
  });
  return {
    ...answers,
    revoked() {
      isRevoked = true;
    },
    async stop() {
      isOver = true;
      await Promise.all(sending);
    },
  };
}

async function policiesOf({ client }: BusyWorld, subject: string): Promise<readonly string[]> {
  const { items } = await listAll<GuardrailPolicy>(client, kinds.guardrailPolicy);
  return items.flatMap(({ spec }) => (spec.displayName.startsWith(`${subject}.`) ? [spec.displayName] : []));
}
