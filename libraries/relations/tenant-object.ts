import { createHash } from 'node:crypto';
import { encodeName } from './subject.ts';

/** Longest encoded tenant and group name; a longer name is replaced by `|` and the SHA-256 of its UTF-8 bytes. */
const partLimits = { tenant: 100, group: 140 } as const;

/**
 * The object of a collection, `collection:<tenant>/<id>`. The slash of a tenant is encoded, so that objects of two tenants
 * never have the same name.
 * @param id a UUID in lower case
 * @throws RelationsModelError for a tenant that is not well-formed text
 */
export function collectionObject(tenant: string, id: string): string {
  return `${collectionsOf(tenant)}${id}`;
}

/** The id of a collection of the tenant; undefined for any other object. */
export function readCollectionObject(tenant: string, object: string): string | undefined {
  const start = collectionsOf(tenant);
  return object.startsWith(start) ? object.slice(start.length) : undefined;
}

/** The object of a group, `group:<tenant>/<name>`. @throws RelationsModelError for a name that is not well-formed text */
export function groupObject(tenant: string, name: string): string {
  return `${groupsOf(tenant)}${bounded(encodeName(name), name, partLimits.group)}`;
}

/** Whether an object is a group of the tenant. */
export function isGroupOf(tenant: string, object: string): boolean {
  return object.startsWith(groupsOf(tenant));
}

/** The name of a group of the tenant, or `sha256:<hex>` for a name that is too long; undefined for any other object. */
export function readGroupObject(tenant: string, object: string): string | undefined {
  const start = groupsOf(tenant);
  if (!object.startsWith(start)) return undefined;
  const part = object.slice(start.length);
  if (part.startsWith('|')) return `sha256:${part.slice(1)}`;
  try {
    const name = decodeURIComponent(part);
    return groupObject(tenant, name) === object ? name : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The group of all callers over A2A. It has no stored members: each call claims the group. The names of groups of
 * tenants contain a slash.
 */
export const authenticatedAll = 'group:authenticated_all';

/** The members of a group as a subject. */
export function membersOfGroup(group: string): string {
  return `${group}#member`;
}

function collectionsOf(tenant: string): string {
  return `collection:${tenantPart(tenant)}/`;
}

function groupsOf(tenant: string): string {
  return `group:${tenantPart(tenant)}/`;
}

function tenantPart(tenant: string): string {
  return bounded(encodeName(tenant).replaceAll('/', '%2F'), tenant, partLimits.tenant);
}

function bounded(encoded: string, text: string, limit: number): string {
  return encoded.length <= limit ? encoded : `|${createHash('sha256').update(text).digest('hex')}`;
}
