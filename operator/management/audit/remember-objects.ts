import type { AuditLog } from '#audit/ports';
import { idLabel } from '#resources/kinds';
import type { Resource } from '#resources/metadata';

/** Prefixes of sources: for a source that names an object, and for a source that names the deletion of that object. */
const sources = {
  model: { prefix: 'model/', closing: 'deletion/model/' },
  policy: { prefix: 'policy/', closing: 'deletion/' },
} as const;
/**
 * A value that a label can have. A revision can name any text as the id of its policy, and a file can name any text as
 * the id of its object.
 */
export const labelForm = /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;
/** Number of objects that one statement stores. */
const batch = 500;

type Objects = () => readonly Pick<Resource, 'metadata'>[];
type RememberedObject = { readonly id: string; readonly uid: string };

/**
 * The objects of one kind that the resources once had. The resources themselves do not show that an object with a UID
 * was deleted.
 */
type ObjectMemory = {
  /** Stores the objects that are new. @throws SqlUnavailableError, SqlStatementError */
  remember(): Promise<void>;
  /** The remembered objects that the cache does not have. */
  absent(): readonly RememberedObject[];
};

/** Identifies the deletion of an object permanently. */
export function sourceOfDeletion(type: keyof typeof sources, { id, uid }: RememberedObject): string {
  return `${sources[type].closing}${id}/${uid}`;
}

/** Keeps the objects in the database, so that a deletion is also noticed when it happened while no replica ran. */
export function createObjectMemory(
  type: keyof typeof sources,
  { all, shown = all }: { readonly all: Objects /** The objects that are recorded. */; readonly shown?: Objects },
  audit: Pick<AuditLog, 'openSources' | 'addSources'>,
): ObjectMemory {
  const { prefix, closing } = sources[type];
  let known: Set<string> | undefined;

  return {
    async remember() {
      known ??= new Set(await audit.openSources(prefix, closing));
      const uids = new Set([...known].map((source) => partsOf(source, prefix).uid));
      const added = shown().flatMap(({ metadata }) => {
        const id = metadata.labels?.[idLabel] ?? '';
        return !labelForm.test(id) || uids.has(metadata.uid ?? '') ? [] : [`${prefix}${id}/${metadata.uid}`];
      });
      if (added.length === 0) return;
      const stored = added.slice(0, batch);
      await audit.addSources(stored);
      for (const source of stored) known.add(source);
    },
    absent() {
      // A changed label is no deletion.
      const current = new Set(all().map(({ metadata }) => metadata.uid));
      return [...(known ?? [])].map((source) => partsOf(source, prefix)).filter(({ uid }) => !current.has(uid));
    },
  };
}

function partsOf(source: string, prefix: string): RememberedObject {
  const [id = '', uid = ''] = source.slice(prefix.length).split('/');
  return { id, uid };
}
