import { z } from 'zod';
import { activitySchema, type DecisionRecord } from '#contracts/activity';
import { openTokenFile } from '#kit/http/token-file';
import { CliError } from '../errors/cli-error.ts';
import type { RunningPlatform } from '../platform/running-platform.ts';

/** A decision with the replica that made it. */
export type Activity = DecisionRecord & { readonly replica: string };

/** `missing` names the replicas whose decisions could not be read, each with the reason. */
type ReadActivity = { readonly items: readonly Activity[]; readonly missing: readonly string[] };

const timeoutMs = 5_000;

/**
 * The newest decisions of all gateways of a platform, newest first.
 * @throws CliError not_running when no gateway answers
 */
export async function readActivity({ data, status }: RunningPlatform): Promise<ReadActivity> {
  const token = openTokenFile(data.apiToken).first();
  const names = status.processes.filter(({ kind }) => kind === 'gateway').map(({ name }) => name);
  const read = await Promise.all(
    status.addresses.gatewayAdmins.map((admin, at) => readReplica(names[at] ?? admin, admin, token)),
  );
  const missing = read.flatMap((one) => (one.ok ? [] : [one.reason]));
  if (missing.length === read.length) {
    const reasons = missing.length === 0 ? 'The platform was started by an earlier version.' : missing.join(' ');
    throw new CliError('not_running', `No gateway shows its decisions. ${reasons} Look at "portcullis status".`);
  }
  const items = read.flatMap((one) => (one.ok ? one.items : []));
  return { items: items.sort((a, b) => b.time.localeCompare(a.time)), missing };
}

type Replica =
  | { readonly ok: true; readonly items: readonly Activity[] }
  | { readonly ok: false; readonly reason: string };

async function readReplica(replica: string, admin: string, token: string): Promise<Replica> {
  try {
    const answer = await fetch(`${admin}/activity`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    if (answer.status !== 200) return { ok: false, reason: `${replica} answered with status ${answer.status}.` };
    const { items } = activitySchema.parse(await answer.json());
    return { ok: true, items: items.map((record) => ({ ...record, replica })) };
  } catch (error) {
    const reason = error instanceof z.ZodError ? 'sent decisions of another version' : 'does not answer';
    return { ok: false, reason: `${replica} ${reason}.` };
  }
}
