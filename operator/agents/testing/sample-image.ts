import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type SdkBundle, sdkBundleSchema } from '#contracts/sdk-bundle';
import type { AgentVersion } from '#resources/agent-version';
import { makeAgentBundle } from '../agent-bundle.ts';
import { checkImage } from '../check-image.ts';

const folder = join(import.meta.dirname, '../../../crds/samples/valid');
const uid = '01890a5d-ac96-774b-bcce-b302099a8064';

/** The sample of a version that is an image, for A2A or for MCP. */
export function sampleImage(mode: 'A2A' | 'MCP' = 'A2A'): AgentVersion {
  const name = mode === 'A2A' ? 'agent-version-image' : 'agent-version-image-tool';
  return parse(readFileSync(join(folder, `${name}.yaml`), 'utf8')) as AgentVersion;
}

/** Makes the bundle of the sample image, with another spec if one is given. */
export function sampleImageBundle(mode: 'A2A' | 'MCP' = 'A2A', change: Partial<AgentVersion['spec']> = {}): SdkBundle {
  const { spec: sample, ...rest } = sampleImage(mode);
  const spec = { ...sample, ...change };
  const verdict = checkImage(spec);
  if (verdict.kind !== 'loaded') throw new Error('the sample of an image was refused');
  const metadata = { name: 'helper-1', namespace: 'team', uid, resourceVersion: '1', generation: 1 };
  const resource = { ...rest, spec, metadata: { ...metadata, creationTimestamp: '' } };
  const at = { namespace: 'team', publicUrl: new URL('https://agents.example') };
  return sdkBundleSchema.parse(makeAgentBundle(resource, verdict.published, at));
}
