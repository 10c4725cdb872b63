import { readEnvironment, setting } from '#kit/env/read-environment';

const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';

const applying = {
  PORTCULLIS_API_URL: setting.url({
    help: 'example: URL of the API server',
    default: 'https://kubernetes.default.svc',
  }),
  PORTCULLIS_API_TOKEN_FILE: setting.file({ help: 'example: token for the API server', default: `${mounted}/token` }),
  PORTCULLIS_API_CA_FILE: setting.file({
    help: 'example: authorities of the API server, PEM',
    default: `${mounted}/ca.crt`,
  }),
  PORTCULLIS_NAMESPACE: setting.string({ help: 'example: namespace of the installation', default: 'default' }),
  PORTCULLIS_GATEWAY: setting.string({ help: 'example: gateway of the example model', default: 'default' }),
};

const testing = {
  PORTCULLIS_GATEWAY_URL: setting.url({ help: 'test: URL of the gateway', default: 'http://127.0.0.1:8080' }),
  PORTCULLIS_CLIENT_KEYS_FILE: setting.optional(
    setting.file({ help: 'test: file of client keys, of which the first is used; without it no key is sent' }),
  ),
  PORTCULLIS_EXAMPLE: setting.choice({
    help: 'test: whether the example model must exist',
    choices: ['true', 'false'],
    default: 'true',
  }),
};

const managing = {
  PORTCULLIS_MANAGEMENT_URL: setting.url({
    help: 'test: URL of the management API',
    default: 'http://127.0.0.1:8081',
  }),
};

const both = {
  PORTCULLIS_PATIENCE_SECONDS: setting.integer({
    help: 'seconds to wait for resources and processes that are not ready',
    min: 1,
    max: 3_600,
    default: 240,
  }),
};

/** Settings of the programs that the chart runs once: the example and the helm tests. */
export const settings = { ...applying, ...testing, ...managing, ...both };

export type ApplyExamplesConfig = {
  readonly api: { readonly url: string; readonly tokenFile: string; readonly caFile: string };
  readonly namespace: string;
  readonly gateway: string;
  readonly patienceMs: number;
};

/** Reads the settings of the job that creates the example. @throws ConfigError with every problem */
export function readApplyExamplesConfig(env: NodeJS.ProcessEnv = process.env): ApplyExamplesConfig {
  const read = readEnvironment({ ...applying, ...both }, env);
  return {
    api: {
      url: read.PORTCULLIS_API_URL.href,
      tokenFile: read.PORTCULLIS_API_TOKEN_FILE,
      caFile: read.PORTCULLIS_API_CA_FILE,
    },
    namespace: read.PORTCULLIS_NAMESPACE,
    gateway: read.PORTCULLIS_GATEWAY,
    patienceMs: read.PORTCULLIS_PATIENCE_SECONDS * 1_000,
  };
}

export type TestGatewayConfig = {
  /** Origin, without a slash at the end. */
  readonly url: string;
  readonly clientKeysFile: string | undefined;
  readonly expectsExample: boolean;
  readonly patienceMs: number;
};

/** @throws ConfigError with every problem */
export function readTestGatewayConfig(env: NodeJS.ProcessEnv = process.env): TestGatewayConfig {
  const read = readEnvironment({ ...testing, ...both }, env);
  return {
    url: read.PORTCULLIS_GATEWAY_URL.origin,
    clientKeysFile: read.PORTCULLIS_CLIENT_KEYS_FILE,
    expectsExample: read.PORTCULLIS_EXAMPLE === 'true',
    patienceMs: read.PORTCULLIS_PATIENCE_SECONDS * 1_000,
  };
}

export type TestManagementConfig = {
  /** Origin, without a slash at the end. */
  readonly url: string;
  readonly patienceMs: number;
};

/** @throws ConfigError with every problem */
export function readTestManagementConfig(env: NodeJS.ProcessEnv = process.env): TestManagementConfig {
  const read = readEnvironment({ ...managing, ...both }, env);
  return { url: read.PORTCULLIS_MANAGEMENT_URL.origin, patienceMs: read.PORTCULLIS_PATIENCE_SECONDS * 1_000 };
}
