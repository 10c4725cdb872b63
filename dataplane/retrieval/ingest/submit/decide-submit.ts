export type JobOp = 'upsert' | 'delete';

/** The identity of a job before it exists; the five parts of `retrieval:submit:deduplicated` and the op. */
export type JobIdentity = {
  readonly collectionId: string;
  readonly docId: string;
  readonly op: JobOp;
  readonly contentHash: string;
  readonly idempotencyKey: string;
};

/** The row of a document, locked. */
export type SubmitState = {
  readonly doc: string;
  readonly lastSeq: number;
  readonly lastOp: JobOp | null;
  readonly opEpoch: number;
};

/** A job that belongs to the current epoch of its document. */
export type EpochJob = {
  readonly doc: string;
  readonly jobId: string;
  readonly seq: number;
  readonly contentHash: string;
  readonly idempotencyKey: string;
};

export type SubmitDecision =
  | {
      readonly kind: 'duplicate';
      readonly jobId: string;
      /**
       * Whether a later job of the document was accepted, so that this job no longer decides the content of the
       * document.
       */
      readonly isSuperseded: boolean;
    }
  | {
      readonly kind: 'accept';
      readonly jobId: string;
      readonly doc: string;
      readonly seq: number;
      readonly epoch: number;
    };

/**
 * Gives each document of a batch its sequence number, in the order of the batch, or the earlier job that it repeats. A
 * document repeats a job only if no job with the other op was accepted after that job: the same upsert after a delete
 * restores the document.
 * @param stateOf the locked row of a document
 * @param newIds the job ids of the batch, one for each document
 */
export function decideSubmit(
  documents: readonly JobIdentity[],
  stateOf: (document: JobIdentity) => SubmitState,
  jobs: readonly EpochJob[],
  newIds: readonly string[],
): { readonly decisions: readonly SubmitDecision[]; readonly states: readonly SubmitState[] } {
  const states = new Map<string, SubmitState>();
  const known = new Map(jobs.map((job) => [jobKey(job.doc, undefined, job), { jobId: job.jobId, seq: job.seq }]));
  const decisions = documents.map((document, at): SubmitDecision => {
    const first = stateOf(document);
    const state = states.get(first.doc) ?? first;
    const epoch = state.lastOp === document.op ? state.opEpoch : state.opEpoch + 1;
    // Earlier jobs in the table belong to the epoch at the start of the batch.
    const key = jobKey(first.doc, epoch === first.opEpoch ? undefined : epoch, document);
    const earlier = known.get(key);
    if (earlier !== undefined) {
      return { kind: 'duplicate', jobId: earlier.jobId, isSuperseded: earlier.seq < state.lastSeq };
    }
    const jobId = newIds[at] as string;
    const seq = state.lastSeq + 1;
    known.set(key, { jobId, seq });
    states.set(first.doc, { doc: first.doc, lastSeq: seq, lastOp: document.op, opEpoch: epoch });
    return { kind: 'accept', jobId, doc: first.doc, seq, epoch };
  });
  return { decisions, states: [...states.values()] };
}

function jobKey(
  doc: string,
  epoch: number | undefined,
  { contentHash, idempotencyKey }: Pick<JobIdentity, 'contentHash' | 'idempotencyKey'>,
): string {
  return JSON.stringify([doc, epoch ?? 'first', contentHash, idempotencyKey]);
}
