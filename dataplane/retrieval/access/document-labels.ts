import { createHash } from 'node:crypto';
import type { Subject } from '#identity/identity';
import type { TenantCaller } from '#identity/tenant-caller';
import { encodeName } from '#relations/subject';
import { groupObject } from '#relations/tenant-object';

/** The access list of a document as submitted (retrieval:document-acl:*). Its member `scope` grants no right. */
type DocumentAcl = {
  readonly groups?: readonly string[] | undefined;
  readonly principals?: readonly string[] | undefined;
  readonly scope?: unknown;
};

/**
 * Labels of documents without an access list: one for the owner of the collection, and one for every caller while the
 * collection is public.
 */
export const ownerLabel = 'owner';
export const publicLabel = 'public';

/** Longest label of a user; a longer label is hashed. */
const maxUserLabel = 512;

/** Whether a document has no access list; a scope alone grants no right. */
export function isEmptyAcl(acl: DocumentAcl | undefined): boolean {
  return (acl?.groups ?? []).length + (acl?.principals ?? []).length === 0;
}

/**
 * The callers that may see a document, as labels of its chunks. Without an access list they are every caller while the
 * collection is public, otherwise its owner only (retrieval:empty-acl:strictest), so that a collection that becomes
 * private shows less.
 * @param caller the submitter; a principal without an issuer belongs to the submitter's issuer
 */
export function documentLabels(
  acl: DocumentAcl | undefined,
  collection: { readonly visibility: 'private' | 'public' },
  caller: Pick<TenantCaller, 'tenant' | 'user' | 'issuers'>,
): readonly string[] {
  if (isEmptyAcl(acl)) return collection.visibility === 'public' ? [ownerLabel, publicLabel] : [ownerLabel];
  const groups = (acl?.groups ?? []).map((name) => groupObject(caller.tenant, name));
  const principals = (acl?.principals ?? []).map((text) => userLabel(readPrincipal(text, caller)));
  return [...new Set([...groups, ...principals])].sort();
}

/**
 * The user that `sub` or `issuer|sub` names. The text before a bar is an issuer only if the tenant has it, because a `sub`
 * may contain a bar; a bare `sub` belongs to the issuer of the caller.
 */
export function readPrincipal(text: string, { user, issuers }: Pick<TenantCaller, 'user' | 'issuers'>): Subject {
  const issuer = issuers.find((one) => text.startsWith(`${one}|`) && text.length > one.length + 1);
  if (issuer === undefined) return { issuer: user.issuer, subject: text };
  return { issuer, subject: text.slice(issuer.length + 1) };
}

/** The label of a user; different users have different labels. */
export function userLabel({ issuer, subject }: Subject): string {
  const label = `user:${encodeName(issuer)}|${encodeName(subject)}`;
  if (label.length <= maxUserLabel) return label;
  return `user:||${createHash('sha256').update(label).digest('hex')}`;
}
