import { z } from 'zod';
import { canonicalBytes, sha256Hex } from './canonical.ts';

/** The subjects of entries of the audit log. `read` and `binding.write` occur in refusals only. */
export const auditActions = [
  'policy.create',
  'policy.update',
  'policy.record',
  'policy.delete',
  'binding.apply',
  'binding.unbind',
  'binding.update',
  'binding.write',
  'binding.delete',
  'agent.serve',
  'agent.access',
  'agent.delete',
  'administrator.grant',
  'administrator.revoke',
  'revision.purge',
  'approval.grant',
  'approval.require',
  'approval.release',
  'freeze.set',
  'freeze.remove',
  'freeze.override',
  'collection.delete',
  'collection.move',
  'collection.update',
  'document.delete',
  'document.acl',
  'memory.delete',
  'memory.erase',
  'relation.grant',
  'relation.revoke',
  'audit.retain',
  'read',
] as const;
export type AuditAction = (typeof auditActions)[number];

export const auditOutcomes = ['accepted', 'refused', 'succeeded', 'failed', 'observed'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** The network from which a client connects; its address would be personal data. */
const clientClasses = ['loopback', 'private', 'public', 'none'] as const;
export type ClientClass = (typeof clientClasses)[number];

const auditTargetTypes = [
  'policy',
  'revision',
  'model',
  'agent',
  'control_plane',
  'approval',
  'freeze',
  'collection',
  'document',
  'group',
  'memory',
  'audit',
] as const;

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const subject = z.strictObject({ issuer: z.string().min(1).max(255), subject: z.string().min(1).max(255) });

export const auditAuthorSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('token'), ...subject.shape, actors: z.array(subject).max(4) }),
    z.strictObject({ kind: z.literal('claimed'), name: z.string().min(1).max(512) }),
    z.strictObject({ kind: z.literal('service'), name: z.string().min(1).max(64) }),
    z.strictObject({ kind: z.literal('unknown') }),
  ])
  .describe(
    'token: subject and act chain of a verified token, the direct caller first. claimed: a name from the resources; one that ends with (Kubernetes user) is that of the API server, every other one was stated and not verified, such as a field manager. service: a process of the installation. unknown: no one was named.',
  );
export type AuditAuthor = z.output<typeof auditAuthorSchema>;

/** The name of an author; undefined if the entry names no author. */
export function auditAuthorName(author: AuditAuthor): string | undefined {
  switch (author.kind) {
    case 'token':
      return author.subject;
    case 'claimed':
    case 'service':
      return author.name;
    case 'unknown':
      return undefined;
  }
}

export const auditStateSchema = z
  .strictObject({
    policyId: z.string().nullable(),
    revision: z.int().min(1).nullable(),
    digest: digest.nullable(),
  })
  .describe('A policy and its revision; digest is that of the definition, or of the bundle of a model.');
export type AuditState = z.output<typeof auditStateSchema>;

/** Maximum number of new rights on an agent that one entry names, and maximum number of revoked rights. */
export const auditNamedHolders = 10;

const versionName = z.string().min(1).max(253);
const holders = z.array(z.string().min(1).max(1_200)).max(auditNamedHolders);

const auditServingSchema = z.strictObject({
  version: versionName,
  canary: z.strictObject({ version: versionName, percent: z.int().min(1).max(99) }).nullable(),
});
export type AuditServing = z.output<typeof auditServingSchema>;

const auditAccessSchema = z.strictObject({
  count: z.int().min(0).describe('Number of rights, including that of the owner.'),
  digest: digest.describe('SHA-256 of the canonical JSON (RFC 8785) of the sorted list of rights.'),
});

/** Settings of a ModelBinding that no application changes. */
const auditSettings = [
  'model.alias',
  'model.provider',
  'model.upstreamModel',
  'model.state',
  'gateway',
  'replicas',
  'extraRequestKeys',
  'judge',
  'unjudged',
  'streaming',
  'longConversations',
] as const;
export type AuditSetting = (typeof auditSettings)[number];

/** The content of an entry in the form that is hashed. It contains no text of a user. */
export const auditContentSchema = z.strictObject({
  time: z.iso.datetime().describe('When it happened, by the clock of the process, in milliseconds.'),
  action: z.enum(auditActions),
  outcome: z
    .enum(auditOutcomes)
    .describe(
      'accepted: a command that took effect on its resource; succeeded or failed: how it ended; refused: nothing was changed; observed: a change that reached the resources by another way than the API.',
    ),
  code: z.string().max(64).nullable().describe('The error code of a refusal or a failure.'),
  author: auditAuthorSchema,
  client: z.enum(clientClasses).describe('Class of the address that the connection comes from.'),
  target: z.strictObject({ type: z.enum(auditTargetTypes), id: z.string().min(1).max(1_024) }).nullable(),
  operationId: z.string().max(64).nullable(),
  traceId: z.string().max(128).nullable(),
  before: auditStateSchema.nullable(),
  after: auditStateSchema.nullable(),
  window: z
    .strictObject({ startsAt: z.iso.datetime(), endsAt: z.iso.datetime() })
    .optional()
    .describe('The freeze window that was set or removed.'),
  serving: z
    .strictObject({ before: auditServingSchema.nullable(), after: auditServingSchema.nullable() })
    .optional()
    .describe('The versions that the Agent declares; null before the first recorded state and after it was deleted.'),
  access: z
    .strictObject({
      before: auditAccessSchema.nullable(),
      after: auditAccessSchema.nullable(),
      granted: holders.describe(
        `The first ${auditNamedHolders} new rights on the agent, each as right, kind and name of the holder. A backslash precedes a backslash, and a separator within a name.`,
      ),
      revoked: holders.describe(`The first ${auditNamedHolders} rights that were taken away.`),
      grantedCount: z.int().min(0).optional().describe('How many new rights there are; absent in older entries.'),
      revokedCount: z.int().min(0).optional().describe('How many were taken away; absent in older entries.'),
    })
    .optional()
    .describe('The rights that the Agent declares; null before the first recorded state and after it was deleted.'),
  settings: z
    .strictObject({
      before: digest,
      after: digest,
      changed: z.array(z.enum(auditSettings)).min(1).max(auditSettings.length).describe('The members that changed.'),
    })
    .optional()
    .describe(
      'The settings of the ModelBinding that no application changes: digests that are equal for equal settings, without values.',
    ),
  count: z.int().min(1).describe('Number of equal refusals that the entry counts.'),
  since: z.iso.datetime().nullable().describe('The first of several refusals; null for one.'),
});
export type AuditContent = z.output<typeof auditContentSchema>;

/** One entry with its place in the chain of its service. */
export const auditEntrySchema = z.strictObject({
  chain: z.string().min(1).max(64).describe('The service that wrote the entry.'),
  number: z.int().min(1).describe('Contiguous within the chain.'),
  previous: digest.describe('The hash of the entry before; 64 zeros for the first one.'),
  hash: digest.describe(
    'SHA-256 of previous, chain, number and the canonical JSON (RFC 8785) of content, with a line feed between each two.',
  ),
  content: auditContentSchema,
});
export type AuditEntry = z.output<typeof auditEntrySchema>;

/** A chain: its newest entry, and the last entry that retention removed. */
const auditChainSchema = z.strictObject({
  chain: z.string(),
  removed: z.strictObject({ number: z.int().min(0), hash: digest }).describe('Number 0 where nothing was removed.'),
  newest: z.strictObject({ number: z.int().min(0), hash: digest }).describe('Number 0 for a chain without entries.'),
});
export type AuditChain = z.output<typeof auditChainSchema>;

/** Response of GET /api/v1/audit. */
export const auditPageSchema = z.strictObject({
  items: z.array(auditEntrySchema),
  nextCursor: z.string().nullable().describe('The cursor of the next page; null on the last one.'),
});

/** Response of GET /api/v1/audit/chains. */
export const auditChainsSchema = z.strictObject({ items: z.array(auditChainSchema) });

/** The hash before the first entry of a chain. */
export const auditGenesis = '0'.repeat(64);

/** The hash of an entry (docs/design/audit.md, The chain). */
export function auditHash(entry: Omit<AuditEntry, 'hash'>): string {
  const content = canonicalBytes(entry.content).toString('utf8');
  return sha256Hex([entry.previous, entry.chain, String(entry.number), content].join('\n'));
}
