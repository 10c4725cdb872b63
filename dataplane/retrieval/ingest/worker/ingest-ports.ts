import type { Turns } from '#kit/concurrency/turns';
import type { EmbeddingProfile, Models } from '#models/ports';
import type { ObjectStore } from '#objects/ports';
import type { Database } from '#sql/connect';
import type { StoreBounds } from '../commit/check-room.ts';
import type { Dependency } from '../faults.ts';
import type { ContentFetcher, DocumentGuard } from '../ports.ts';

/**
 * Stages of an attempt and of a reindex, each reported when it is completed. Metrics count them, and crash tests stop a
 * worker after a stage.
 */
export const ingestSteps = [
  'claimed',
  'read',
  'fetched',
  'guarded',
  'chunked',
  'cleared',
  'embedded',
  'written',
  'live',
  'removed',
  'unstaged',
  'settled',
  'failed',
  'released',
  'built',
  'prepared',
  'switched',
] as const;

export type IngestStep = (typeof ingestSteps)[number];

/** The dependencies of a worker. The worker disposes none of them. */
export type IngestPorts = {
  readonly database: Database;
  readonly objects: ObjectStore;
  readonly models: Models;
  readonly fetcher: ContentFetcher;
  /** `unguarded` is explicit if no policy is configured for documents. */
  readonly guard: DocumentGuard | 'unguarded';
  /** An approved profile of the environment; undefined for a profile that is not approved at present. */
  readonly profileOf: (id: string) => EmbeddingProfile | undefined;
  readonly bounds: StoreBounds;
  readonly analyse: (text: string) => readonly string[];
  readonly countTokens: (text: string) => number;
  /** The slices in which long documents are split into chunks. */
  readonly turns: Turns;
  /** Called after each step; the attempt continues when it resolves. */
  readonly onStep: (step: IngestStep) => void | Promise<void>;
  /** Notifies replicas that a building version can be loaded; never throws. */
  readonly hintPrepared: () => void;
  /** Called when an attempt ends because a dependency is unavailable. */
  readonly onUnavailable: (dependency: Dependency) => void;
};
