// A process that watches 1,000 revisions of 1 MB like a replica of the management API, and prints the state that it
// keeps of them as JSON. The heap of the process is much smaller than the revisions.
import { once } from 'node:events';
import { systemClock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import { silentLogger } from '../../operator/folder-api/testing/open-folder.ts';
import { startManagementCaches } from '../../operator/management/caches/management-caches.ts';

const [count, bytes] = [1_000, 1_000_000];

/**
 * A revision as the text that a server sends: the stored part of an object must not keep the page that contained it in
 * memory.
 */
function revisionText(at: number): string {
  const policyId = `policy-${at % 10}`;
  const metadata = { name: `${policyId}-${at}`, uid: `uid-${at}`, resourceVersion: String(at + 1), generation: 1 };
  const spec = {
    policyId,
    number: Math.floor(at / 10) + 1,
    policy: { name: policyId, uid: policyId, generation: 1 },
    token: '',
    displayName: policyId,
    description: '',
    lifecycle: 'Draft',
    definition: '',
    definitionDigest: 'a'.repeat(64),
    ruleCount: 1,
    ruleKinds: ['term'],
    tests: [],
  };
  const object = JSON.stringify({ apiVersion: 'portcullis.dev/v1alpha1', kind: 'PolicyRevision', metadata, spec });
  return object.replace('"definition":""', `"definition":"${String(at).padEnd(bytes, 'x')}"`);
}

const client: Pick<KubeClient, 'list' | 'watch'> = {
  async list(kind, { limit = count, continue: from = '0' } = {}) {
    if (kind.kind !== kinds.policyRevision.kind) return { items: [], resourceVersion: '1' };
    const [first, end] = [Number(from), Math.min(count, Number(from) + limit)];
    const items = Array.from({ length: end - first }, (_, at) => JSON.parse(revisionText(first + at)));
    return { items, resourceVersion: String(count), ...(end < count ? { continue: String(end) } : {}) };
  },
  async *watch(_kind, { signal }) {
    if (signal?.aborted === false) await once(signal, 'abort');
    yield* [];
  },
};

await using caches = startManagementCaches({ client, logger: silentLogger, clock: systemClock });
await caches.synced;
const { revisions, bytes: stored } = caches.stored;
console.log(JSON.stringify({ revisions, stored, newest: caches.revisions('policy-3')[0]?.number }));
