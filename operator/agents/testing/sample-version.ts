import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type AgentBundle, agentBundleDigest, agentBundleSchema } from '#contracts/agent-bundle';

import type { AgentVersion } from '#resources/agent-version';
import { makeAgentBundle } from '../agent-bundle.ts';
import { checkVersion } from '../checking/check-version.ts';
import { lowCodeOf } from './low-code-of.ts';

const file = join(import.meta.dirname, '../../../crds/samples/valid/agent-version-small.yaml');
const uid = '01890a5d-ac96-774b-bcce-b302099a8062';

/** The bundle of the small sample of an AgentVersion, with members that replace its own. */
export async function sampleVersion(change: Partial<AgentBundle> = {}): Promise<AgentBundle> {
  const { spec, ...rest } = parse(readFileSync(file, 'utf8')) as AgentVersion;
  const verdict = await checkVersion(lowCodeOf(spec));
  if (verdict.kind !== 'loaded') throw new Error('the sample of an AgentVersion was refused');
  const metadata = {
    name: 'hello',
    namespace: 'team',
    uid,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '',
  };
  const at = { namespace: 'team', publicUrl: new URL('https://agents.example') };
  const made = agentBundleSchema.parse(makeAgentBundle({ ...rest, spec, metadata }, verdict.published, at));
  const { digest: _digest, ...content } = { ...made, ...change };
  return { ...content, digest: agentBundleDigest(content) };
}
