import { group, type Kind, kinds, version } from '#resources/kinds';
import { ApiRefusal } from '../api-refusal.ts';

/** The collection or object of a request. */
export type RequestTarget =
  | { readonly type: 'collection'; readonly kind: Kind; readonly namespace: string | undefined }
  | { readonly type: 'object'; readonly kind: Kind; readonly name: string; readonly part: 'object' | 'status' }
  | { readonly type: 'other'; readonly path: string };

const prefix = `/apis/${group}/${version}/`;

/** Parses the path of a request; resources of other namespaces do not exist. */
export function readTarget(path: string, namespace: string): RequestTarget {
  if (!path.startsWith(prefix)) return { type: 'other', path };
  const segments = path.slice(prefix.length).split('/').map(decodeSegment);
  if (segments[0] !== 'namespaces') {
    const [plural = '', ...rest] = segments;
    if (rest.length > 0) throw unknownPath();
    return { type: 'collection', kind: kindOf(plural), namespace: undefined };
  }
  const [, ns = '', plural = '', name, part, ...rest] = segments;
  const kind = kindOf(plural);
  if (ns !== namespace || rest.length > 0) throw unknownPath();
  if (name === undefined) return { type: 'collection', kind, namespace: ns };
  if (name === '' || (part !== undefined && part !== 'status')) throw unknownPath();
  return { type: 'object', kind, name, part: part ?? 'object' };
}

/** The response to an unknown path; it names no object, so that clients do not mistake it for a missing object. */
export function unknownPath(): ApiRefusal {
  return new ApiRefusal('NotFound', 'the server could not find the requested resource');
}

function kindOf(plural: string): Kind {
  const kind = Object.values(kinds).find((one) => one.plural === plural);
  if (kind === undefined) throw unknownPath();
  return kind;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw unknownPath();
  }
}
