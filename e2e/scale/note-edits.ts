// Usage: node note-edits.ts KUBECONFIG NAMESPACE: prints a line for each edit of a binding that a watch reports: name,
// generation and arrival time in milliseconds since 1970.

import { createClient } from '#kube/client/client';
import { loadKubeconfig } from '#kube/client/credentials';
import { startReflector } from '#kube/watch/reflector';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';

const [file = '', namespace = ''] = process.argv.slice(2);
const client = createClient({ ...(await loadKubeconfig({ file })), namespace });
const reflector = startReflector<ModelBinding>({
  client,
  kind: kinds.modelBinding,
  logger: { info() {}, warn() {} },
  transform: ({ metadata, ...rest }) => ({ ...rest, spec: {} as ModelBinding['spec'], metadata, status: undefined }),
  onChange(name, current, previous) {
    if (current === undefined || previous?.metadata.generation === current.metadata.generation) return;
    const at = performance.timeOrigin + performance.now();
    if (previous !== undefined) console.error(`${name} ${current.metadata.generation} ${at}`);
  },
});
await reflector.synced;
console.log(JSON.stringify({ listening: 'nowhere' }));
process.on('SIGTERM', () => process.exit(0));
