import type { AuditLog } from '#audit/ports';
import { idLabel } from '#resources/kinds';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { changeOfModelDeletion, type ObservedChange } from './observed-changes.ts';

/** Before the id and the UID of a model that the resources had. */
const prefix = 'model/';
/** Before that source, names the deletion. */
const closing = 'deletion/';
/** Models that one statement stores. */
const batch = 500;

/** The models that the resources had. Nothing of a deleted ModelBinding stays in the resources. */
type ModelMemory = {
  /** Stores the models that are new. @throws SqlUnavailableError, SqlStatementError */
  remember(): Promise<void>;
  /** The remembered models that the cache does not have. */
  deletions(now: Date): readonly ObservedChange[];
};

/** Keeps the models in the database, so that a deletion is also noticed when it happened while no replica ran. */
export function createModelMemory(
  bindings: Pick<ManagementCaches['bindings'], 'list'>,
  audit: Pick<AuditLog, 'openSources' | 'addSources'>,
): ModelMemory {
  let known: Set<string> | undefined;

  return {
    async remember() {
      known ??= new Set(await audit.openSources(prefix, closing));
      const uids = new Set([...known].map((source) => partsOf(source).uid));
      const added = bindings.list().flatMap(({ metadata }) => {
        const id = metadata.labels?.[idLabel] ?? '';
        return id === '' || uids.has(metadata.uid ?? '') ? [] : [`${prefix}${id}/${metadata.uid}`];
      });
      if (added.length === 0) return;
      const stored = added.slice(0, batch);
      await audit.addSources(stored);
      for (const source of stored) known.add(source);
    },
    deletions(now) {
      // A changed label is no deletion.
      const current = new Set(bindings.list().map(({ metadata }) => metadata.uid));
      return [...(known ?? [])]
        .map((source) => ({ source, ...partsOf(source) }))
        .filter(({ uid }) => !current.has(uid))
        .map(({ source, id, uid }) => changeOfModelDeletion(`${closing}${source}`, { id, uid }, now));
    },
  };
}

function partsOf(source: string): { readonly id: string; readonly uid: string } {
  const [id = '', uid = ''] = source.slice(prefix.length).split('/');
  return { id, uid };
}
