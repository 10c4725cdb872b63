import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideSubmit, type EpochJob, type JobIdentity, type SubmitState } from './decide-submit.ts';

type Step = Pick<JobIdentity, 'docId' | 'op' | 'contentHash' | 'idempotencyKey'>;

const step: fc.Arbitrary<Step> = fc.record({
  docId: fc.constantFrom('a', 'b'),
  op: fc.constantFrom('upsert', 'delete'),
  contentHash: fc.constantFrom('h1', 'h2'),
  idempotencyKey: fc.constantFrom('k1', 'k2'),
});

/**
 * The expected result, computed independently: the equal job, unless a job with the other op was accepted after it. The
 * equal job is superseded unless it is the newest job of the document.
 */
function expectedDuplicate(accepted: readonly (Step & { jobId: string })[], wanted: Step) {
  const ofDocument = accepted.filter(({ docId }) => docId === wanted.docId);
  const lastOther = ofDocument.findLastIndex(({ op }) => op !== wanted.op);
  const equal = ofDocument
    .slice(lastOther + 1)
    .find((job) => job.contentHash === wanted.contentHash && job.idempotencyKey === wanted.idempotencyKey);
  if (equal === undefined) return undefined;
  return { kind: 'duplicate', jobId: equal.jobId, isSuperseded: equal !== ofDocument.at(-1) };
}

test('a batch of submits gets the same sequence numbers and finds the same duplicates as single submits', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 8 }), (batches) => {
      const states = new Map<string, SubmitState>();
      const jobs: (EpochJob & { epoch: number })[] = [];
      const accepted: (Step & { jobId: string; seq: number })[] = [];
      let ids = 0;
      for (const batch of batches) {
        const stateOf = ({ docId }: Step): SubmitState =>
          states.get(docId) ?? { doc: docId, lastSeq: 0, lastOp: null, opEpoch: 0 };
        const current = jobs.filter(({ doc, epoch }) => states.get(doc)?.opEpoch === epoch);
        const documents = batch.map((one) => ({ ...one, collectionId: 'c' }));
        const { decisions, states: next } = decideSubmit(
          documents,
          stateOf,
          current,
          documents.map(() => `j${++ids}`),
        );
        for (const [at, decision] of decisions.entries()) {
          const one = batch[at] as Step;
          const duplicate = expectedDuplicate(accepted, one);
          expect(decision.kind === 'duplicate' ? decision : undefined).toEqual(duplicate);
          if (decision.kind === 'duplicate') continue;
          const before = accepted.filter(({ docId }) => docId === one.docId);
          expect(decision.seq).toBe(before.length + 1);
          accepted.push({ ...one, jobId: decision.jobId, seq: decision.seq });
          jobs.push({ ...one, ...decision });
        }
        for (const state of next) states.set(state.doc, state);
      }
    }),
  );
});
