import type { StorageGuard } from '#checks/guard/storage-guard';
import { DocumentFault, GuardUnavailableError } from '../faults.ts';
import type { DocumentGuard } from '../ports.ts';

/** Judges the texts of documents by a guard of texts, in the errors of ingest. */
export function createDocumentGuard(guard: StorageGuard): DocumentGuard {
  return {
    async check(_scope, texts, signal) {
      const decision = await guard.judge(texts, signal);
      switch (decision.kind) {
        case 'passed':
        case 'denied':
          return decision;
        case 'unjudgeable':
          throw new DocumentFault('too_large', decision.problem);
        case 'failed':
          throw new GuardUnavailableError(decision.code, decision.provider);
      }
    },
  };
}
