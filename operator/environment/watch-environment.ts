import { type Followed, followFiles } from '#environment/follow-files';
import type { Logger } from '#kit/log/logger';
import type { Metrics } from '#kit/metrics/metrics';
import { type Environment, readEnvironmentFiles } from './read-environment-files.ts';

/** The current approved providers, limits and connections. */
export type LiveEnvironment = Pick<Followed<Environment>, 'current' | 'onChange'>;

type EnvironmentOptions = {
  readonly files: Parameters<typeof readEnvironmentFiles>[0];
  readonly logger: Pick<Logger, 'info' | 'error'>;
  readonly metrics: Metrics;
  readonly everyMs?: number;
};

/**
 * Reads the files of providers, limits and connections, and reads them again when they changed.
 * @throws ConfigError when the files cannot be used at the start
 */
export async function watchEnvironment(options: EnvironmentOptions): Promise<LiveEnvironment & AsyncDisposable> {
  const { files, logger } = options;
  const valid = createFilesGauge(options.metrics);
  return followFiles({
    paths: [files.providers, files.limits, ...(files.connections === undefined ? [] : [files.connections])],
    read: () => readEnvironmentFiles(files),
    onTaken(environment, isFirst) {
      valid.set({}, 1);
      if (!isFirst) logger.info('environment_changed', { providers: environment.approved.length });
    },
    onRefused(problems) {
      valid.set({}, 0);
      for (const problem of problems) logger.error('environment_refused', { problem });
    },
    ...(options.everyMs === undefined ? {} : { everyMs: options.everyMs }),
  });
}

export function createFilesGauge(metrics: Metrics) {
  return metrics.gauge({
    name: 'portcullis_environment_files_valid',
    help: '1 if providers.yaml, limits.yaml and connections.yaml are in use as they are; 0 if a change of them is refused.',
    labels: {},
  });
}
