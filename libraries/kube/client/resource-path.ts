import { type Kind, group as ownGroup, version as ownVersion } from '#resources/kinds';

/** The apiVersion of objects of a kind: `v1` for the core group, else group and version. */
export function apiVersionOf(kind: Kind): string {
  const { group = ownGroup, version = ownVersion } = kind;
  return group === '' ? version : `${group}/${version}`;
}

/** Whether a kind is a Portcullis resource, whose objects always have a generation. */
export function isOwnKind(kind: Kind): boolean {
  return kind.group === undefined;
}

/** Represents all namespaces: their objects can be listed and watched only. */
export const allNamespaces = '';

/** Path of the objects of a kind in a namespace, of one object, or of a subresource such as `status`. */
export function resourcePath(kind: Kind, namespace: string, ...segments: readonly string[]): string {
  const { group = ownGroup, version = ownVersion } = kind;
  const root = group === '' ? ['api', version] : ['apis', group, version];
  const within = namespace === allNamespaces ? [] : ['namespaces', namespace];
  return ['', ...root, ...within, kind.plural, ...segments].map(encodeURIComponent).join('/');
}
