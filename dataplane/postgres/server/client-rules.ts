import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from './account.ts';
import { ServerError } from './server-error.ts';

type ClientRulesOptions = {
  readonly data: string;
  readonly account: Account | undefined;
  readonly servesCluster: boolean;
};

/** Lines of pg_hba.conf: every client authenticates with scram-sha-256, and replication is refused. */
function clientRules(servesCluster: boolean): string {
  const from = servesCluster ? ['all'] : ['127.0.0.1/32', '::1/128'];
  const rules = from.map((address) => `host all all ${address} scram-sha-256\n`);
  return `# Written at every start.\n${rules.join('')}`;
}

/** Writes pg_hba.conf at every start: the file in the folder may be from another release or another installation. */
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
