import { activityRequest, type CollectedActivity, joinActivity, readReplicaActivity } from '#contracts/activity';
import { fetchJson } from '#kit/http/fetch-json';
import { openTokenFile } from '#kit/http/token-file';
import { CliError } from '../errors/cli-error.ts';
import type { RunningPlatform } from '../platform/running-platform.ts';

/**
 * The newest decisions of all gateways of a platform, newest first.
 * @throws CliError not_running when no gateway answers
 */
export async function readActivity({ data, status }: RunningPlatform): Promise<CollectedActivity> {
  const token = openTokenFile(data.adminToken).first();
  const names = status.processes.filter(({ kind }) => kind === 'gateway').map(({ name }) => name);
  const parts = await Promise.all(
    status.addresses.gatewayAdmins.map(async (origin, at) => {
      const read = await fetchJson(`${origin}/activity`, { ...activityRequest, token });
      return readReplicaActivity(names[at] ?? origin, read.kind === 'silent' ? {} : read);
    }),
  );
  const activity = joinActivity(parts);
  if (activity.missing.length < parts.length) return activity;
  const reasons = missingSentences(activity).join(' ') || 'The platform was started by an earlier version.';
  throw new CliError('not_running', `No gateway shows its decisions. ${reasons} Look at "portcullis status".`);
}

/** One sentence for each replica whose decisions are missing. */
export function missingSentences({ missing }: CollectedActivity): readonly string[] {
  return missing.map(({ replica, reason }) => `${replica} ${reason}.`);
}
