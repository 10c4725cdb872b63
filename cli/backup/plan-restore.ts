import { sameJson } from '#kube/apply/same-json';
import { idLabel } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';

export type RestorePlan = {
  /** Objects that are not there. */
  readonly create: readonly Resource[];
  /** Objects that are there already, as they are to be: an earlier restore brought them. */
  readonly present: readonly Resource[];
  /** Why nothing is to be written; empty where nothing stands against it. */
  readonly problems: readonly string[];
};

/** What a restore has to do in a place that may hold a part of the backup already. */
export function planRestore(wanted: readonly Resource[], existing: readonly Stored<Resource>[]): RestorePlan {
  const there = new Map(existing.map((object) => [keyOf(object), object]));
  const keys = new Set(wanted.map(keyOf));
  const foreign = existing.filter((object) => !keys.has(keyOf(object))).map(nameOf);
  const different = wanted.filter((object) => {
    const found = there.get(keyOf(object));
    return found !== undefined && !isSame(object, found);
  });
  return {
    create: wanted.filter((object) => !there.has(keyOf(object))),
    present: wanted.filter((object) => there.has(keyOf(object))),
    problems: [
      ...foreign.map((name) => `${name} is there and not in the backup`),
      ...different.map((object) => `${nameOf(object)} is there and says something else than in the backup`),
    ],
  };
}

/** Whether a stored object is the one of the backup. */
export function isSame(wanted: Resource, found: Stored<Resource>): boolean {
  const id = (object: Resource): string | undefined => object.metadata.labels?.[idLabel];
  return sameJson(wanted.spec, found.spec) && id(wanted) === id(found);
}

function keyOf({ kind, metadata }: Resource): string {
  return `${kind}/${metadata.name}`;
}

export function nameOf({ kind, metadata }: Resource): string {
  return `${kind} ${metadata.name}`;
}
