import { expect, test } from 'vitest';
import { type AuditContent, type AuditEntry, auditGenesis, auditHash } from '#contracts/audit';
import type { ManagementApi } from './management-api.ts';
import { type ProofEvent, proveAuditLog } from './prove-audit-log.ts';

const content: AuditContent = {
  time: '2026-01-01T00:00:00.000Z',
  action: 'policy.create',
  outcome: 'accepted',
  code: null,
  author: { kind: 'unknown' },
  client: 'none',
  target: null,
  operationId: null,
  traceId: null,
  before: null,
  after: null,
  count: 1,
  since: null,
};

function chainOf(count: number): AuditEntry[] {
  let previous = auditGenesis;
  return Array.from({ length: count }, (_, at) => {
    const entry = { chain: 'management', number: at + 1, previous, content };
    previous = auditHash(entry);
    return { ...entry, hash: previous };
  });
}

/** An API with these entries, two on a page. */
function apiOf(entries: readonly AuditEntry[], newest = entries.at(-1)): Pick<ManagementApi, 'call'> {
  const head = { number: newest?.number ?? 0, hash: newest?.hash ?? auditGenesis };
  const chains = [{ chain: 'management', removed: { number: 0, hash: auditGenesis }, newest: head }];
  return {
    async call(path, schema) {
      const from = Number(new URL(path, 'http://api').searchParams.get('cursor') ?? 0);
      const next = from + 2 < entries.length ? String(from + 2) : null;
      const page = { items: entries.slice(from, from + 2), nextCursor: next };
      const value = schema.parse(path.includes('/chains') ? { items: chains } : page);
      return { kind: 'value', value, etag: undefined } as never;
    },
  };
}

async function proofOf(api: Pick<ManagementApi, 'call'>): Promise<readonly ProofEvent[]> {
  return await Array.fromAsync(proveAuditLog(api, AbortSignal.timeout(10_000)));
}

test('a proof of the audit log reads every page, reports its progress, and names the heads', async () => {
  const events = await proofOf(apiOf(chainOf(5)));
  expect(events.slice(0, -1)).toEqual([2, 4, 5].map((entries) => ({ kind: 'progress', entries, of: 5 })));
  expect(events.at(-1)).toMatchObject({ kind: 'proved', entries: 5, chains: [{ newest: { number: 5 } }] });
  expect((await proofOf(apiOf([]))).at(-1)).toMatchObject({ kind: 'proved', entries: 0 });
});

test('a proof of the audit log names the first entry that was changed or removed', async () => {
  const entries = chainOf(5);
  const changed = entries.with(2, { ...(entries[2] as AuditEntry), content: { ...content, outcome: 'refused' } });
  expect((await proofOf(apiOf(changed))).at(-1)).toMatchObject({ kind: 'broken', chain: 'management', number: 3 });
  const removed = entries.toSpliced(1, 1);
  expect((await proofOf(apiOf(removed))).at(-1)).toMatchObject({ kind: 'broken', number: 2 });
  const cut = entries.slice(0, 4);
  expect((await proofOf(apiOf(cut, entries.at(-1)))).at(-1)).toMatchObject({ kind: 'broken', number: 5 });
});

test('a proof that the API refuses ends with the refusal', async () => {
  const refused = { kind: 'refused', status: 403, code: 'permission_denied', message: '' } as const;
  expect(await proofOf({ call: async () => refused })).toEqual([{ kind: 'refused', answer: refused }]);
});

test.each([10, 11])(
  'a proof reads a page again that the API cannot answer now, at most 10 times: %i',
  async (times) => {
    const api = apiOf(chainOf(5));
    let left = times;
    const busy: Pick<ManagementApi, 'call'> = {
      async call(path, schema, options) {
        if (!path.includes('cursor=2') || left === 0) return await api.call(path, schema, options);
        left -= 1;
        return { kind: 'refused', status: 429, code: 'rate_limited', message: '' };
      },
    };
    const events = await Array.fromAsync(proveAuditLog(busy, new AbortController().signal, { pauseMs: 0 }));
    expect(events.at(-1)?.kind).toBe(times > 10 ? 'refused' : 'proved');
  },
);
