import { type JsonPatchOperation, pointerSegment } from '../client/json-patch.ts';
import type { KubeObject } from '../client/kube-object.ts';
import { sameQuantity } from './same-quantity.ts';
import { isServerDefault } from './server-defaults.ts';

/** Members whose values are quantities, by the name of the member that holds them. */
const quantityMaps = new Set(['limits', 'requests']);
const quantityMembers = new Set(['sizeLimit']);

type Json = Readonly<Record<string, unknown>>;
type Location = {
  /** JSON Pointer (RFC 6901). */
  readonly path: string;
  /** Path of the table of server defaults. */
  readonly pattern: string;
  readonly member: string;
  readonly parent: string;
};

/**
 * The operations that change a live object into the desired one; empty if they are equal. Labels and annotations of the
 * object are merged by key. Other members, except metadata and status, are compared exactly: a member that is not
 * desired is removed unless the API server adds it (server-defaults.ts), so that an added selector entry, toleration or
 * external address does not survive. Lists are compared item by item; a list of a different length is replaced
 * completely. Null, an empty list and an empty text equal an absent member, because a server leaves them out.
 */
export function differenceOperations(live: KubeObject, desired: KubeObject): readonly JsonPatchOperation[] {
  const { labels, annotations } = desired.metadata;
  const at = { path: '', pattern: desired.kind, member: '', parent: '' };
  return [
    ...compareDesired(live.metadata, { labels, annotations }, step(at, 'metadata'), mergeMembers),
    ...compareExactly(contentOf(live), contentOf(desired), at),
  ];
}

function contentOf(object: KubeObject): Json {
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...content } = object;
  return content;
}

type CompareMembers = (live: Json, desired: Json, at: Location) => readonly JsonPatchOperation[];

const mergeMembers: CompareMembers = (live, desired, at) => compareDesired(live, desired, at, mergeMembers);

const compareExactly: CompareMembers = (live, desired, at) => [
  ...compareDesired(live, desired, at, compareExactly),
  ...Object.entries(live).flatMap(([member, value]): readonly JsonPatchOperation[] => {
    if (isCompared(desired[member]) || isAbsent(value)) return [];
    const { path, pattern } = step(at, member);
    return isServerDefault(pattern, value) || isAliasOfDesired(pattern, value, desired) ? [] : [{ op: 'remove', path }];
  }),
];

/** `serviceAccount` repeats `serviceAccountName` under an old name. */
function isAliasOfDesired(pattern: string, value: unknown, desired: Json): boolean {
  return pattern.endsWith('/spec/serviceAccount') && value === desired['serviceAccountName'];
}

function compareDesired(
  live: Json,
  desired: Json,
  at: Location,
  compare: CompareMembers,
): readonly JsonPatchOperation[] {
  return Object.entries(desired).flatMap(([member, wanted]) => {
    if (!isCompared(wanted)) return [];
    const location = step(at, member);
    if (Object.hasOwn(live, member)) return compareValue(live[member], wanted, location, compare);
    return isAbsent(wanted) ? [] : [{ op: 'add', path: location.path, value: wanted }];
  });
}

function step({ path, pattern, member: parent }: Location, member: string, inPattern = pointerSegment(member)) {
  return { path: `${path}/${pointerSegment(member)}`, pattern: `${pattern}/${inPattern}`, member, parent };
}

function compareValue(
  live: unknown,
  wanted: unknown,
  at: Location,
  compare: CompareMembers,
): readonly JsonPatchOperation[] {
  if (Array.isArray(wanted) && Array.isArray(live) && live.length === wanted.length) {
    return wanted.flatMap((item, index) => compareValue(live[index], item, step(at, String(index), '*'), compare));
  }
  if (isObject(wanted) && isObject(live)) return compare(live, wanted, at);
  return sameLeaf(live, wanted, at) ? [] : [{ op: 'replace', path: at.path, value: wanted }];
}

function sameLeaf(live: unknown, wanted: unknown, { member, parent }: Location): boolean {
  if (live === wanted || (isAbsent(live) && isAbsent(wanted))) return true;
  const isQuantity = quantityMaps.has(parent) || quantityMembers.has(member);
  return isQuantity && isScalar(live) && isScalar(wanted) && sameQuantity(live, wanted);
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An empty list is compared: the live list may hold items. */
function isCompared(wanted: unknown): boolean {
  return !isAbsent(wanted) || Array.isArray(wanted);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
