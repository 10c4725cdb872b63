import { z } from 'zod';

/** Value of `apiVersion` in a file reference (`fileref:version:v1`). */
const fileReferenceVersion = 'platform.file-ref/v1';

const name = z
  .string()
  .min(1)
  .max(255)
  // Control characters could make two different names look equal.
  .regex(/^[^\u0000-\u001f\u007f-\u009f]+$/);

/**
 * A reference to a file, which the owner of the file gives to an agent. The capability is opaque to the agent: only the
 * file service that issued it can judge it (docs/design/file-references.md).
 */
export const fileReferenceSchema = z.strictObject({
  apiVersion: z.literal(fileReferenceVersion),
  fileId: z.uuid(),
  name,
  mediaType: z
    .string()
    .max(128)
    .regex(/^[a-z]+\/[a-z0-9.+-]+$/),
  /** Size of the file, bytes. */
  size: z.int().min(0),
  /** Lower or upper case hexadecimal. */
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/),
  capability: z.string().min(1).max(8_192),
  expiresAt: z.iso.datetime({ offset: true }),
});
export type FileReference = z.infer<typeof fileReferenceSchema>;

/** Maximum number of file references in one call of an agent. */
export const mostFileReferences = 8;

/** Why the authority of a file reference is refused. The caller of an agent receives `file_refused` for each of them. */
const fileRefusals = [
  'reference_invalid',
  'capability_invalid',
  'signature_wrong',
  'issuer_wrong',
  'recipient_wrong',
  'expired',
  'owner_wrong',
  'subject_wrong',
  'caller_wrong',
  'agent_wrong',
  'operation_wrong',
  'session_wrong',
  'file_wrong',
  'hash_wrong',
  'size_wrong',
  'media_type_wrong',
  'name_wrong',
  'reads_used',
  'revoked',
  'file_not_found',
] as const;
export type FileRefusal = (typeof fileRefusals)[number];

const subject = z.strictObject({ issuer: z.string().min(1).max(255), subject: z.string().min(1).max(255) });

/** The call in which an agent presents a file reference. */
export const fileUseSchema = z.strictObject({
  agentId: z.string().min(1).max(255),
  versionId: z.string().min(1).max(255),
  /** Name of the operation in workload tokens, for example `message:send`. */
  operation: z.string().min(1).max(64),
  /** A2A contextId or MCP session. */
  session: z.string().min(1).max(256),
  runId: z.string().min(1).max(255),
  /** The user for whom the agent runs. */
  subject,
  /** The agents between the user and this agent, the direct caller first. */
  actors: z.array(subject).max(4),
});
export type FileUse = z.infer<typeof fileUseSchema>;

/**
 * The answer of a file service that grants one read of a file. The channel can be used once, for at most 60 seconds.
 */
export const fileGrantSchema = z.object({
  fileId: z.uuid(),
  mediaType: z.string().max(128),
  size: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/),
  channel: z.string().regex(/^[A-Za-z0-9_-]{16,256}$/),
});

/** Answer of a file service that refuses, with the status 403. */
export const fileRefusalSchema = z.object({ error: z.object({ code: z.enum(fileRefusals) }) });
