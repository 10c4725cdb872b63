import type { EmbeddingProfile, Models } from '#models/ports';
import type { ObjectStore } from '#objects/ports';
import type { Database } from '#sql/connect';
import type { ContentFetcher, DocumentGuard } from '../ports.ts';

/** A stage that an attempt has completed, in this order; the share of each in its time is measured. */
export type IngestStep =
  | 'claimed'
  | 'read'
  | 'fetched'
  | 'guarded'
  | 'chunked'
  | 'embedded'
  | 'written'
  | 'live'
  | 'settled'
  | 'failed'
  | 'released';

/** What a worker needs of other parts. It disposes none of them. */
export type IngestPorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  readonly models: Models;
  readonly fetcher: ContentFetcher;
  /** `unguarded` is written out where no policy is configured for documents. */
  readonly guard: DocumentGuard | 'unguarded';
  /** An approved profile of the environment; undefined while it is not approved. */
  readonly profileOf: (id: string) => EmbeddingProfile | undefined;
  readonly analyse: (text: string) => readonly string[];
  readonly countTokens: (text: string) => number;
  /** Called after each step; the attempt goes on when it resolves. */
  readonly onStep: (step: IngestStep) => void | Promise<void>;
};
