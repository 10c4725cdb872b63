import { describe, expect, test } from 'vitest';
import { ConfigError } from '#kit/env/config-error';
import { readConfig } from './config.ts';

const base = { PORTCULLIS_DATA_DIR: '/data' };
const file = import.meta.filename;
const inCluster = {
  PORTCULLIS_MODE: 'cluster',
  PORTCULLIS_ENVIRONMENT_DIR: '/environment',
  PORTCULLIS_RUNTIME_TOKEN_FILE: file,
  PORTCULLIS_SECRETS_DIR: '/secrets',
  PORTCULLIS_REPLICA: 'operator-0',
};
const shared = {
  listen: { host: '127.0.0.1', port: 0 },
  namespace: 'default',
  progressDeadlineMs: 600_000,
  maxStreamMs: 900_000,
  build: undefined,
  retrieval: undefined,
  authority: undefined,
};

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [];
  }
  return [];
}
const namesOf = (env: NodeJS.ProcessEnv) => problemsOf(env).map((problem) => problem.split(' ')[0]);

describe('standalone mode', () => {
  test('the operator starts in standalone mode by default, and the data directory is the only required setting', () => {
    expect(readConfig(base)).toEqual({
      ...shared,
      mode: 'standalone',
      agents: undefined,
      traces: undefined,
      dataDirectory: '/data',
      apiListen: { host: '127.0.0.1', port: 0 },
    });
    expect(readConfig({ ...base, PORTCULLIS_MODE: 'standalone' })).toEqual(readConfig(base));
  });

  test("every problem of the operator's configuration is reported together", () => {
    expect(namesOf({ PORTCULLIS_LISTEN: 'here', PORTCULLIS_NAMESPACE: '' })).toEqual([
      'PORTCULLIS_DATA_DIR',
      'PORTCULLIS_LISTEN',
      'PORTCULLIS_NAMESPACE',
    ]);
  });
});

describe('cluster mode', () => {
  test('the operator uses the API server of its cluster unless another one is configured', () => {
    expect(readConfig(inCluster)).toEqual({
      ...shared,
      mode: 'cluster',
      namesUsers: false,
      api: {
        kind: 'mounted',
        url: 'https://kubernetes.default.svc',
        tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
        caFile: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
      },
      environmentDirectory: '/environment',
      runtimeTokenFile: file,
      secretsDirectory: '/secrets',
      replica: 'operator-0',
      leaseName: 'portcullis-operator',
    });
  });

  test("another API server is verified with the system's CA certificates, or with the configured ones", () => {
    const other = {
      ...inCluster,
      PORTCULLIS_API_URL: 'https://api.example:6443/',
      PORTCULLIS_API_TOKEN_FILE: '/token',
    };
    const api = { kind: 'mounted', url: 'https://api.example:6443/', tokenFile: '/token' };
    expect(readConfig(other)).toMatchObject({ api: { ...api, caFile: undefined } });
    expect(readConfig({ ...other, PORTCULLIS_API_CA_FILE: '/ca' })).toMatchObject({ api: { ...api, caFile: '/ca' } });
  });

  test('a kubeconfig replaces the three settings of the API server and cannot be combined with one of them', () => {
    const env = { ...inCluster, PORTCULLIS_KUBECONFIG: file };
    expect(readConfig(env)).toMatchObject({ api: { kind: 'kubeconfig', file } });
    expect(namesOf({ ...env, PORTCULLIS_API_URL: 'https://x', PORTCULLIS_API_CA_FILE: '/ca' })).toEqual([
      'PORTCULLIS_API_URL',
      'PORTCULLIS_API_CA_FILE',
    ]);
  });

  test('every problem of the cluster mode is reported together, without settings of the other mode', () => {
    expect(namesOf({ PORTCULLIS_MODE: 'cluster', PORTCULLIS_LISTEN: 'here' })).toEqual([
      'PORTCULLIS_ENVIRONMENT_DIR',
      'PORTCULLIS_RUNTIME_TOKEN_FILE',
      'PORTCULLIS_SECRETS_DIR',
      'PORTCULLIS_REPLICA',
      'PORTCULLIS_LISTEN',
    ]);
  });
});

test('an unknown mode is reported together with problems of the common settings', () => {
  expect(namesOf({ PORTCULLIS_MODE: 'both', PORTCULLIS_NAMESPACE: '' })).toEqual([
    'PORTCULLIS_MODE',
    'PORTCULLIS_NAMESPACE',
  ]);
  expect(namesOf({ ...base, PORTCULLIS_MODE: '' })).toEqual(['PORTCULLIS_MODE']);
});

test.each([
  ['PORTCULLIS_PROGRESS_DEADLINE_SECONDS', 'progressDeadlineMs'],
  ['PORTCULLIS_MAX_STREAM_SECONDS', 'maxStreamMs'],
] as const)('the setting %s accepts 1 second to one day', (name, member) => {
  for (const env of [base, inCluster]) {
    expect(readConfig({ ...env, [name]: '1' })[member]).toBe(1_000);
    expect(readConfig({ ...env, [name]: '86400' })[member]).toBe(86_400_000);
    for (const wrong of ['0', '86401', '1.5', '']) expect(namesOf({ ...env, [name]: wrong })).toEqual([name]);
  }
});

describe('the retrieval service', () => {
  const access = {
    PORTCULLIS_RETRIEVAL_URL: 'http://retrieval:8081',
    PORTCULLIS_RETRIEVAL_TOKEN_FILE: file,
    PORTCULLIS_RETRIEVAL_TENANTS: 'acme, globex',
  };
  const names = Object.keys(access) as (keyof typeof access)[];

  test('address, token and tenants of the retrieval service apply in both modes', () => {
    const retrieval = { url: new URL('http://retrieval:8081'), tokenFile: file, tenants: ['acme', 'globex'] };
    expect(readConfig({ ...base, ...access }).retrieval).toEqual(retrieval);
    expect(readConfig({ ...inCluster, ...access }).retrieval).toEqual(retrieval);
  });

  test.each(names)('%s alone is refused, with the names of the other two', (name) => {
    const others = names.filter((other) => other !== name);
    expect(namesOf({ ...base, [name]: access[name] })).toEqual(others);
  });
});
