import { KeyObject, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { z } from 'zod';
import type { FileReference, FileRefusal, FileUse } from '#contracts/file-reference';
import { type Clock, systemClock } from '#kit/time/clock';
import { agentAudience, isSubject, openGatewayToken } from './gateway-token.ts';
import type { Subject } from './identity.ts';
import { type KeyPlace, openKeyCache } from './key-cache.ts';
import type { KeysError } from './public-keys.ts';
import { isSecond } from './validate-claims.ts';

const kind = { typ: 'portcullis-file+jwt', longestSeconds: 86_400 } as const;

const name = z.string().min(1).max(255);
const subjectSchema = z.strictObject({ issuer: name, subject: name });
const fileSchema = z.strictObject({
  id: z.uuid(),
  name,
  mediaType: name,
  size: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Claims that bind a capability to one use of one file. */
const boundClaims = z.object({
  aud: name,
  jti: name,
  iat: z.int().min(0),
  exp: z.number().refine(isSecond),
  /** The user for whom the file may be read. */
  acting: subjectSchema,
  owner: subjectSchema,
  /** The agent that may call in the name of the user; absent for a call of the user. */
  caller: subjectSchema.optional(),
  agentId: name,
  operation: name,
  session: name,
  file: fileSchema,
  /** How often the file may be read with this capability. */
  reads: z.int().min(1).max(1_000),
});
type CapabilityClaims = z.infer<typeof boundClaims>;

/** A file in the form of its store. */
export type StoredFile = z.infer<typeof fileSchema> & { readonly owner: Subject };

type MintCapabilityOptions = {
  readonly key: { readonly kid: string; readonly privateKey: KeyObject };
  readonly issuer: string;
  readonly file: StoredFile;
  readonly agentId: string;
  readonly operation: string;
  readonly session: string;
  readonly acting: Subject;
  readonly caller?: Subject;
  readonly reads?: number;
  readonly ttlSeconds?: number;
  readonly clock?: Clock;
};

/** Creates a new key for capabilities, with its public half for a JWKS file. */
export async function createCapabilityKey(
  kid: string,
): Promise<{ readonly kid: string; readonly privateKey: KeyObject; readonly jwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  return { kid, privateKey: KeyObject.from(privateKey), jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } };
}

/**
 * Signs the right to read one file in one session of one agent, as a reference that the owner of the file can pass on.
 */
export async function mintFileReference(options: MintCapabilityOptions): Promise<FileReference> {
  const { key, issuer, file, agentId, operation, session, acting, caller, reads = 1 } = options;
  const { ttlSeconds = 600, clock = systemClock } = options;
  const now = Math.floor(clock.date().getTime() / 1_000);
  const { owner, ...facts } = file;
  const claims = {
    iss: issuer,
    aud: agentAudience(agentId),
    jti: randomUUID(),
    iat: now,
    exp: now + ttlSeconds,
    acting,
    owner,
    ...(caller === undefined ? {} : { caller }),
    agentId,
    operation,
    session,
    file: facts,
    reads,
  };
  const header = { alg: 'EdDSA', typ: kind.typ, kid: key.kid };
  return {
    apiVersion: 'platform.file-ref/v1',
    fileId: file.id,
    name: file.name,
    mediaType: file.mediaType,
    size: file.size,
    sha256: file.sha256,
    capability: await new SignJWT(claims).setProtectedHeader(header).sign(key.privateKey),
    expiresAt: new Date(claims.exp * 1_000).toISOString(),
  };
}

/** A capability whose signature and binding are valid. The store checks reads, revocation and the stored file. */
type FileCapability = {
  readonly kind: 'capability';
  readonly id: string;
  readonly owner: Subject;
  readonly reads: number;
  readonly expiresAt: Date;
};
type FileCapabilityRefusal = { readonly kind: 'refusal'; readonly code: FileRefusal };

export type FileCapabilityVerifier = {
  /** Judges the capability of a reference for one use. @returns `unavailable` if the keys cannot be read */
  verify(
    reference: FileReference,
    use: FileUse,
  ): Promise<FileCapability | FileCapabilityRefusal | { readonly kind: 'unavailable' }>;
};

/**
 * Verifies the capabilities of one file service (docs/design/file-references.md). Each member of the reference must
 * equal its claim, so that no member can be changed or moved to another reference.
 */
export function createFileCapabilityVerifier(options: {
  readonly issuer: string;
  readonly jwks: KeyPlace;
  readonly clock?: Clock;
  readonly onUnavailable?: (error: KeysError) => void;
}): FileCapabilityVerifier {
  const { issuer, clock = systemClock, onUnavailable } = options;
  const keys = openKeyCache(options.jwks, clock);
  return {
    async verify(reference, use) {
      const opened = await openGatewayToken(reference.capability, { kind, issuer, keys, onUnavailable });
      if (opened.kind === 'refusal') {
        if (opened.status === 503) return { kind: 'unavailable' };
        const code = opened.code === 'issuer_unknown' ? 'issuer_wrong' : signatureCodes[opened.code];
        return { kind: 'refusal', code: code ?? 'capability_invalid' };
      }
      const claims = boundClaims.safeParse(opened.claims);
      if (!claims.success || claims.data.exp - claims.data.iat > kind.longestSeconds) {
        return { kind: 'refusal', code: 'capability_invalid' };
      }
      const code = bindingFault(claims.data, reference, use, clock.date());
      if (code !== undefined) return { kind: 'refusal', code };
      const { jti, owner, reads, exp } = claims.data;
      return { kind: 'capability', id: jti, owner, reads, expiresAt: new Date(exp * 1_000) };
    },
  };
}

const signatureCodes: Readonly<Record<string, FileRefusal>> = {
  signature_wrong: 'signature_wrong',
  key_unknown: 'signature_wrong',
};

/** The first binding that does not hold, in the order of docs/design/file-references.md. */
function bindingFault(
  claims: CapabilityClaims,
  reference: FileReference,
  use: FileUse,
  now: Date,
): FileRefusal | undefined {
  const { file } = claims;
  const isForCaller =
    claims.caller === undefined ? use.actors.length === 0 : isSubject(claims.caller, use.actors[0] ?? nobody);
  const faults: readonly (readonly [FileRefusal, boolean])[] = [
    ['recipient_wrong', claims.aud !== agentAudience(use.agentId)],
    ['expired', now.getTime() >= claims.exp * 1_000 || Date.parse(reference.expiresAt) !== claims.exp * 1_000],
    ['subject_wrong', !isSubject(claims.acting, use.subject)],
    ['caller_wrong', !isForCaller],
    ['agent_wrong', claims.agentId !== use.agentId],
    ['operation_wrong', claims.operation !== use.operation],
    ['session_wrong', claims.session !== use.session],
    ['file_wrong', file.id !== reference.fileId.toLowerCase()],
    ['hash_wrong', file.sha256 !== reference.sha256.toLowerCase()],
    ['size_wrong', file.size !== reference.size],
    ['media_type_wrong', file.mediaType !== reference.mediaType],
    ['name_wrong', file.name !== reference.name],
  ];
  return faults.find(([, isFault]) => isFault)?.[0];
}

/** Why a stored file differs from the file of a reference whose capability is valid; undefined if it does not. */
export function storedFileFault(
  stored: StoredFile,
  reference: FileReference,
  { owner }: Pick<FileCapability, 'owner'>,
): FileRefusal | undefined {
  if (!isSubject(stored.owner, owner)) return 'owner_wrong';
  if (stored.sha256 !== reference.sha256.toLowerCase()) return 'hash_wrong';
  if (stored.size !== reference.size) return 'size_wrong';
  return stored.mediaType === reference.mediaType ? undefined : 'media_type_wrong';
}

/** A subject that no claim can equal. */
const nobody: Subject = { issuer: '', subject: '' };
