import type { Timings } from './timings.ts';

/** The input of a measuring process, as JSON on its standard input. */
export type SpeedCase = {
  readonly engine: 'embedded' | 'sqlite-vec' | 'lancedb' | 'opensearch';
  readonly chunks: number;
  readonly dimensions: number;
  /** Queries of each kind. */
  readonly queries: number;
  /** The folder in which other engines are installed; the embedded engine does not use it. */
  readonly installed?: string;
  /** Address of a running OpenSearch, for that engine. */
  readonly server?: string;
};

/** The result of a measuring process, as JSON on its standard output. Queries are hybrid: both legs, window 50. */
export type SpeedReport = {
  /** Milliseconds from the start of loading to the first answer. */
  readonly readyMs: number;
  /** Queries with a label that selects 5 % of the chunks. */
  readonly filtered: Timings;
  readonly unfiltered: Timings;
  /** Resident memory in MiB after the queries, and before loading. */
  readonly residentMib: number;
  readonly startMib: number;
  /** Small HTTP requests to the same process: alone, and during unfiltered queries of 1 and of 16 callers. */
  readonly others?: { readonly idle: Timings; readonly busy: Timings; readonly crowded: Timings };
};
