import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from './account.ts';
import { ServerError } from './server-error.ts';

export type ClientRulesOptions = {
  readonly data: string;
  readonly account: Account | undefined;
  readonly servesCluster: boolean;
};

/** Who may connect, as pg_hba.conf has it: everybody by scram-sha-256, nobody for replication. */
function clientRules(servesCluster: boolean): string {
  const from = servesCluster ? ['all'] : ['127.0.0.1/32', '::1/128'];
  const rules = from.map((address) => `host all all ${address} scram-sha-256\n`);
  return `# Written at every start.\n${rules.join('')}`;
}

/** Writes the rules into the data folder, at every start: what is there may be of another release or another place. */
export function writeClientRules({ data, account, servesCluster }: ClientRulesOptions): void {
  const path = join(data, 'pg_hba.conf');
  try {
    writeFileSync(path, clientRules(servesCluster), { mode: 0o600 });
    chmodSync(path, 0o600);
    if (account !== undefined) chownSync(path, account.uid, account.gid);
  } catch (cause) {
    throw new ServerError('folder_unusable', `${path} cannot be written`, cause);
  }
}
