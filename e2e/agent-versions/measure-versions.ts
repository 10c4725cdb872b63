import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { root } from '../../hack/check/run-tool.ts';

const sample = join(root, 'crds/samples/valid/agent-version-small.yaml');

/** Versions of one agent that repeats a text. */
function sampleVersions(names: readonly string[]): readonly AgentVersion[] {
  const { apiVersion, kind, spec } = parse(readFileSync(sample, 'utf8')) as AgentVersion;
  return names.map((name) => ({ apiVersion, kind, metadata: { name }, spec }));
}

/**
 * Applies versions with one `kubectl apply` and waits until each of them is Ready.
 * @returns the seconds from the start of kubectl until the last version is ready, and the resources
 */
export async function applyUntilReady(
  { client, apply }: { readonly client: KubeClient; readonly apply: (text: string) => Promise<unknown> },
  names: readonly string[],
): Promise<{ readonly seconds: number; readonly versions: readonly Stored<AgentVersion>[] }> {
  const text = sampleVersions(names).map((version) => stringify(version));
  const begun = performance.now();
  await apply(text.join('---\n'));
  const versions = await until(`${names.length} versions are ready`, async () => {
    const { items } = await client.list<AgentVersion>(kinds.agentVersion, {});
    const ready = items.filter((item) => names.includes(item.metadata.name) && isReady(item));
    return ready.length === names.length ? ready : undefined;
  });
  return { seconds: (performance.now() - begun) / 1_000, versions };
}

function isReady({ status }: AgentVersion): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}
