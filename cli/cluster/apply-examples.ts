// Program of the chart: creates the resources of examples/guarded-chat in its namespace if they do not exist.
import { join } from 'node:path';
import { createClient } from '#kube/client/client';
import { mountedAccess } from '#kube/client/cluster-access';
import { kinds } from '#resources/kinds';
import type { ModelBindingSpec } from '#resources/model-binding';
import { readResources } from '../manifests/read-resources.ts';
import { readSources } from '../manifests/read-sources.ts';
import { writeText } from '../output/write.ts';
import { checkout } from '../platform/data-directory.ts';
import { type ApplyExamplesConfig, readApplyExamplesConfig } from './config.ts';
import { createAbsent } from './create-absent.ts';
import { runOnce } from './run-once.ts';

async function applyExamples({ api, namespace, gateway, patienceMs }: ApplyExamplesConfig): Promise<void> {
  const manifests = readResources(await readSources(join(checkout, 'examples', 'guarded-chat')), { namespace });
  await using client = createClient({ ...mountedAccess(api), namespace });
  const placed = manifests.map(({ kind, resource }) => {
    if (kind.kind !== kinds.modelBinding.kind) return { kind, resource };
    return { kind, resource: { ...resource, spec: { ...(resource.spec as ModelBindingSpec), gateway } } };
  });
  await createAbsent(client, placed, { patienceMs, say: writeText });
}

await runOnce('example', () => applyExamples(readApplyExamplesConfig()));
