/** The log of one process, pod or container. */
export type LogName = {
  /** Name of the process or pod, or `POD/CONTAINER`. */
  readonly name: string;
  /** Component, such as operator, gateway or runtime. */
  readonly component: string;
  /** The workload that the process belongs to. */
  readonly workload?: string;
};

export type LogSelection = {
  /** Maximum number of lines, counted from the end; all if absent. */
  readonly tail?: number;
  /** If present, only lines that were written in the last given number of seconds. */
  readonly sinceSeconds?: number;
  /** Whether lines are delivered as they are written, until the signal is aborted. */
  readonly follow: boolean;
  /** Whether the log of the previous run of a container is read; only if several runs have separate logs. */
  readonly previous?: true;
  readonly signal: AbortSignal;
};

/** The logs of an installation. */
export type LogReader = {
  list(): Promise<readonly LogName[]>;
  /**
   * Lines without their line feeds, in the order in which they were written.
   * @throws CliError not_found with the reason for which a listed log has no content at present
   */
  read(name: string, selection: LogSelection): AsyncIterable<string>;
};
