import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { changeEntry } from '#audit/change-entry';
import type { RecordingService } from '#relations/testing/recorded-changes-suite';
import { tupleTarget } from '../access/change-author.ts';
import { createRelationChanges } from '../access/change-relations.ts';

const by = { author: { kind: 'claimed', name: 'ann' }, client: 'loopback', traceId: null } as const;

/** Retrieval as a service that records its changes of rights. */
export const recordingRetrieval: RecordingService = {
  migrations: { schema: 'retrieval', folder: new URL('../migrations/', import.meta.url) },
  table: 'retrieval.relation_changes',
  failureCode: 'authz_unavailable',
  lockOf: (object) => `retrieval relations of ${object}`,
  objects: ['collection:acme/one', 'group:acme/two'],
  relations: ['reader', 'member'],
  entryOf: (action, tuple) => changeEntry({ action: `relation.${action}`, target: tupleTarget(tuple) }, by, new Date()),
  openAudit: (database) => openPostgresAudit(database, 'retrieval'),
  create: createRelationChanges,
};
