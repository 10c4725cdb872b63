import { sameJson } from '#kube/apply/same-json';
import { idLabel, restoredUidAnnotation } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';

export type RestorePlan = {
  /** Objects of the backup that do not exist in the namespace. */
  readonly create: readonly Resource[];
  /** Objects of the backup that an earlier restore created. */
  readonly present: readonly Resource[];
  /** Why the restore must not write anything; empty if it can start. */
  readonly problems: readonly string[];
};

/** Plans a restore into a namespace that may hold a part of the backup already. */
export function planRestore(wanted: readonly Resource[], existing: readonly Stored<Resource>[]): RestorePlan {
  const there = new Map(existing.map((object) => [keyOf(object), object]));
  const keys = new Set(wanted.map(keyOf));
  const foreign = existing.filter((object) => !keys.has(keyOf(object))).map(kindAndName);
  const different = wanted.filter((object) => {
    const found = there.get(keyOf(object));
    return found !== undefined && !isSame(object, found);
  });
  return {
    create: wanted.filter((object) => !there.has(keyOf(object))),
    present: wanted.filter((object) => there.has(keyOf(object))),
    problems: [
      ...foreign.map((name) => `${name} exists and is not in the backup`),
      ...different.map((object) => `${kindAndName(object)} exists and differs from the backup`),
    ],
  };
}

/** Whether a stored object equals its copy in the backup. */
export function isSame(wanted: Resource, found: Stored<Resource>): boolean {
  const id = (object: Resource): string | undefined => object.metadata.labels?.[idLabel];
  const restored = (object: Resource): string | undefined => object.metadata.annotations?.[restoredUidAnnotation];
  return sameJson(wanted.spec, found.spec) && id(wanted) === id(found) && restored(wanted) === restored(found);
}

function keyOf({ kind, metadata }: Resource): string {
  return `${kind}/${metadata.name}`;
}

export function kindAndName({ kind, metadata }: Resource): string {
  return `${kind} ${metadata.name}`;
}
