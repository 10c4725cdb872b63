import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentProfile } from '#contracts/profiles';

/** Creates a data directory whose operator serves the example policy by the name `documents`. @returns its path */
export function servingDirectory(folder: string): string {
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(join(data, 'lock'), '');
  const policy = `{ name: documents, policyRef: { name: guarded-chat, revision: 1 }, contentProfile: ${currentProfile} }`;
  writeFileSync(join(data, 'served-policies.yaml'), `policies: [${policy}]\n`);
  return data;
}
