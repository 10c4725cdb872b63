import type { OpenedLogs, ResourceSource } from './resource-source.ts';

type ExplainingSource = {
  /** The given source, with resources that explain their errors. */
  readonly source: ResourceSource;
  /** The cause of an error of the resource server with its remedy, or the error itself if the cause is unknown. */
  readonly explained: (error: unknown) => Promise<unknown>;
};

/** A source that explains the error with which a command ends, whatever the command read or wrote. */
export function explainingSource(given: ResourceSource): ExplainingSource {
  let opened: Pick<OpenedLogs, 'explain'> | undefined;
  return {
    source: {
      ...given,
      async open(options) {
        const resources = await given.open(options);
        opened = resources;
        return resources;
      },
      async openLogs(options) {
        const logs = await given.openLogs(options);
        opened = logs;
        return logs;
      },
    },
    async explained(error) {
      try {
        return (await opened?.explain(error)) ?? error;
      } catch {
        // A failed look-up of the cause must not hide the error.
        return error;
      }
    },
  };
}
