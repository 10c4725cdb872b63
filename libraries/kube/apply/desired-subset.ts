import { type JsonPatchOperation, pointerSegment } from '../client/json-patch.ts';
import { sameQuantity } from './same-quantity.ts';

/** Members whose values are quantities, by the name of the member that holds them. */
const quantityMaps = new Set(['limits', 'requests']);
const quantityMembers = new Set(['sizeLimit']);

type Json = Readonly<Record<string, unknown>>;
type Place = { readonly path: string; readonly member: string; readonly parent: string };

/**
 * The operations that make `live` hold everything that is desired; none where it does. Every leaf that is desired is
 * compared, and what is not desired stays: defaults of the server and what others have added. Null says that a member
 * must not be there. Lists are compared item by item; one of another length is replaced whole. An empty list and an
 * empty text equal an absent member, as a server leaves them out.
 */
export function subsetOperations(live: unknown, desired: Json, path = ''): readonly JsonPatchOperation[] {
  if (!isObject(live)) return [{ op: 'add', path, value: withoutNulls(desired) }];
  return compareMembers(live, desired, { path, member: '', parent: '' });
}

function compareMembers(live: Json, desired: Json, at: Place): readonly JsonPatchOperation[] {
  return Object.entries(desired).flatMap(([member, wanted]) => {
    const place = { path: `${at.path}/${pointerSegment(member)}`, member, parent: at.member };
    return Object.hasOwn(live, member) ? compareValue(live[member], wanted, place) : addMember(wanted, place);
  });
}

function addMember(wanted: unknown, { path }: Place): readonly JsonPatchOperation[] {
  const isAbsentAnyway = wanted === undefined || wanted === null || wanted === '' || isEmptyList(wanted);
  return isAbsentAnyway ? [] : [{ op: 'add', path, value: withoutNulls(wanted) }];
}

function compareValue(live: unknown, wanted: unknown, place: Place): readonly JsonPatchOperation[] {
  const { path } = place;
  if (wanted === undefined) return [];
  if (wanted === null) return [{ op: 'remove', path }];
  if (Array.isArray(wanted)) return compareLists(live, wanted, place);
  if (isObject(wanted) && isObject(live)) return compareMembers(live, wanted, place);
  return sameLeaf(live, wanted, place) ? [] : [{ op: 'replace', path, value: withoutNulls(wanted) }];
}

function compareLists(live: unknown, wanted: readonly unknown[], place: Place): readonly JsonPatchOperation[] {
  const { path, member } = place;
  if (!Array.isArray(live) || live.length !== wanted.length) {
    return [{ op: 'replace', path, value: withoutNulls(wanted) }];
  }
  return wanted.flatMap((item, index) =>
    compareValue(live[index], item, { path: `${path}/${index}`, member: String(index), parent: member }),
  );
}

function sameLeaf(live: unknown, wanted: unknown, { member, parent }: Place): boolean {
  if (live === wanted) return true;
  const isQuantity = quantityMaps.has(parent) || quantityMembers.has(member);
  return isQuantity && isScalar(live) && isScalar(wanted) && sameQuantity(live, wanted);
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** A value that is added whole says nothing of what must not be there. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && member !== undefined)
      .map(([name, member]) => [name, withoutNulls(member)]),
  );
}
