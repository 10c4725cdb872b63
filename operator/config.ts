import { readEnvironment, setting } from '#kit/env/read-environment';

/** Settings of the operator; the rest is laid down by the data directory. */
export const settings = {
  PORTCULLIS_DATA_DIR: setting.path({ help: 'the data directory of the platform, owned by the operator' }),
  PORTCULLIS_API_LISTEN: setting.hostPort({
    help: 'where the resources are served; an address of the loopback interface',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_LISTEN: setting.hostPort({
    help: 'where /livez, /readyz and /metrics are served',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_NAMESPACE: setting.string({ help: 'the namespace of all resources', default: 'default' }),
  PORTCULLIS_PROGRESS_DEADLINE_SECONDS: setting.integer({
    help: 'seconds after which an application that is not confirmed counts as failed',
    min: 1,
    max: 86_400,
    default: 600,
  }),
  PORTCULLIS_MAX_STREAM_SECONDS: setting.integer({
    help: 'the longest stream, in seconds: for so long a replaced workload is kept at most; the same as at the gateways',
    min: 1,
    max: 86_400,
    default: 900,
  }),
  PORTCULLIS_BUILD: setting.optional(
    setting.string({
      help: 'version of the runtime; where absent, the package version and a digest of the sources',
    }),
  ),
};

type HostPort = { readonly host: string; readonly port: number };

export type OperatorConfig = {
  readonly dataDirectory: string;
  readonly apiListen: HostPort;
  readonly listen: HostPort;
  readonly namespace: string;
  readonly progressDeadlineMs: number;
  readonly maxStreamMs: number;
  readonly build: string | undefined;
};

/**
 * Reads the environment once.
 * @throws ConfigError naming every setting that is wrong
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): OperatorConfig {
  const values = readEnvironment(settings, env);
  return {
    dataDirectory: values.PORTCULLIS_DATA_DIR,
    apiListen: values.PORTCULLIS_API_LISTEN,
    listen: values.PORTCULLIS_LISTEN,
    namespace: values.PORTCULLIS_NAMESPACE,
    progressDeadlineMs: values.PORTCULLIS_PROGRESS_DEADLINE_SECONDS * 1_000,
    maxStreamMs: values.PORTCULLIS_MAX_STREAM_SECONDS * 1_000,
    build: values.PORTCULLIS_BUILD,
  };
}
