import { createHash } from 'node:crypto';
import type { JsonValue } from '#kit/json/json-value';

/** The bytes that a submit stages for an upsert: the members of a canonical document that the worker needs, as JSON. */
export type StagedDocument = {
  readonly content?: JsonValue | undefined;
  readonly content_ref?: { readonly uri: string } | undefined;
  readonly metadata?: { readonly [key: string]: JsonValue } | undefined;
};

export function stagedBytes({ content, content_ref, metadata }: StagedDocument): Uint8Array {
  return Buffer.from(JSON.stringify({ content, content_ref, metadata }));
}

/** The key of a job's staged object, in a folder of the tenant. Two tenants never have the same folder. */
export function stagingKey(tenant: string, jobId: string): string {
  return `${stagingFolder}/${tenantSegment(tenant)}/${jobId}`;
}

/** Folder of all staged objects. */
export const stagingFolder = 'staging';

/** Keys of objects have a restricted alphabet; tenants with other characters are named by their hash. */
function tenantSegment(tenant: string): string {
  if (/^[A-Za-z0-9_-]{1,100}$/.test(tenant)) return `t-${tenant}`;
  return `h-${createHash('sha256').update(tenant).digest('hex')}`;
}
