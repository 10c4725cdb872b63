import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ChartValue, readValues } from '../../hack/chart/read-values.ts';
import { chartFolder, helm, missingHelm, skipWithout } from './tools/helm.ts';
import { valuesFiles, valuesPath } from './tools/render-chart.ts';

type Json = { readonly [member: string]: unknown };
type Schema = Json & {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
};

const text = readFileSync(join(chartFolder, 'values.yaml'), 'utf8');
const schema = JSON.parse(readFileSync(join(chartFolder, 'values.schema.json'), 'utf8')) as Schema;
const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);

/** Values of a user merged over the defaults, as Helm merges them. */
function merged(base: unknown, over: unknown): unknown {
  const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap(base) || !isMap(over)) return over;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries(
    [...keys].map((key) => [key, key in over ? merged(base[key], over[key]) : base[key]] as const),
  );
}

/** The defaults with `a.b` set to a value. */
function withValue(path: string, value: unknown): unknown {
  const over = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return merged(parse(text), over);
}

const accepts = (path: string, value: unknown): boolean => validate(withValue(path, value));

/** Every object of the schema with declared properties. */
function groups(
  at: Schema,
  path: readonly string[] = [],
): readonly { path: readonly string[]; keys: readonly string[] }[] {
  if (at.properties === undefined) return [];
  const below = Object.entries(at.properties).flatMap(([key, part]) => groups(part, [...path, key]));
  return [{ path, keys: Object.keys(at.properties) }, ...below];
}

const digest = `sha256:${'0'.repeat(64)}`;
const model = { name: 'a', kind: 'model', endpoint: 'https://a.example/v1', enabled: true };
const trusted = { issuer: 'https://a.example', audience: 'control-plane' };
const served = { name: 'a', policyRef: { name: 'p', revision: 1 }, contentProfile: 'c', replicas: 1 };

/** Accepted and refused values on both sides of each limit. */
const edges: readonly (readonly [path: string, good: readonly unknown[], bad: readonly unknown[]])[] = [
  ['nameOverride', ['', 'a', 'a'.repeat(40)], ['a'.repeat(41), 'A', '-a']],
  ['fullnameOverride', ['', 'a'.repeat(40)], ['a'.repeat(41), 'a.b']],
  [
    'commonLabels',
    [{ team: 'a', 'example.com/team': '' }],
    [{ 'app.kubernetes.io/name': 'a' }, { 'helm.sh/chart': 'a' }, { 'portcullis.dev/x': 'a' }, { a: 'ä' }],
  ],
  ['image.repository', ['a', 'host.example:5000/a/b'], ['', '/a', `a@${digest}`, 'a'.repeat(257)]],
  ['image.tag', ['', 'dev', 'a'.repeat(128)], ['.a', 'a'.repeat(129), 'a b', 1]],
  ['image.digest', ['', digest], ['sha256:0', digest.toUpperCase(), `${digest}0`]],
  ['image.pullPolicy', ['Always', 'IfNotPresent', 'Never'], ['always', '']],
  ['imagePullSecrets', [[], [{ name: 'a' }]], [['a'], [{ name: 'A' }], [{}]]],
  ['runAsUser', ['', 1, 65_532, 2_147_483_647], [0, -1, 2_147_483_648, 1.5, 'root', null]],
  ['trustedAuthorities.existingConfigMap', ['', 'a.b'], ['A', 'a'.repeat(254)]],
  ['crds.install', [true, false], ['true', null]],
  [
    'providers',
    [[], [model]],
    [
      [{ ...model, kind: 'chat' }],
      [{ ...model, endpoint: 'ftp://a' }],
      [{ ...model, secret: 'x' }],
      [{ name: 'a', kind: 'model', enabled: true }],
    ],
  ],
  ['providerCredentials.existingSecret', ['', 'a.b', 'a'.repeat(253)], ['A', 'a'.repeat(254)]],
  [
    'limits',
    [{}, { maxBodyBytes: 256 }, { maxBodyBytes: 131_072 }, { maxConcurrency: 256 }],
    [{ maxBodyBytes: 255 }, { maxBodyBytes: 131_073 }, { queueSize: 1 }, { other: 1 }],
  ],
  [
    'servedPolicies',
    [[], [served], [{ ...served, replicas: 64 }]],
    [[{ ...served, replicas: 65 }], [{ ...served, name: 'a'.repeat(41) }], [{ ...served, policyRef: { name: 'p' } }]],
  ],
  ['operator.replicas', [1, 64], [0, 65, 1.5, '2']],
  ['operator.progressDeadlineSeconds', [1, 86_400], [0, 86_401]],
  ['operator.podDisruptionBudget.maxUnavailable', [1, 64, '1%', '100%'], [0, 65, '101%', 'all']],
  [
    'operator.resources',
    [{}, { limits: { memory: '1Gi' } }, { requests: { cpu: '0.5' } }],
    [{ limits: { memory: 'much' } }, { limit: {} }],
  ],
  ['gateway.name', ['a', 'a'.repeat(63)], ['', 'a'.repeat(64), 'A', 'a.b']],
  ['gateway.replicas', [1, 64], [0, 65]],
  ['gateway.logLevel', ['debug', 'error'], ['trace', 'INFO']],
  ['gateway.clientAuth', ['keys', 'open'], ['none', '']],
  ['gateway.maxStreamSeconds', [1, 86_400], [0, 86_401]],
  ['gateway.streamIdleSeconds', [1, 3_600], [0, 3_601]],
  ['gateway.checksPerWorkload', [1, 4_096], [0, 4_097]],
  ['gateway.maxHeldMib', [80, 65_536], [79, 65_537]],
  ['gateway.preStopSeconds', [0, 86_400], [-1, 86_401]],
  ['gateway.service.type', ['ClusterIP', 'NodePort', 'LoadBalancer'], ['ExternalName', '']],
  ['gateway.service.port', [1, 65_535], [0, 65_536, '80']],
  ['gateway.tolerations', [[], [{ operator: 'Exists' }]], [{}, ['a']]],
  ['gateway.topologySpread', [true, false], ['yes', 1]],
  ['management.enabled', [true, false], ['true', null]],
  ['management.replicas', [1, 64], [0, 65]],
  ['management.logLevel', ['debug', 'error'], ['trace', 'INFO']],
  [
    'management.issuers',
    [
      [],
      [{ ...trusted, jwksUrl: 'https://a.example/keys' }],
      [{ ...trusted, jwks: '{"keys":[]}' }],
      [{ ...trusted, jwks: { keys: [{ kty: 'RSA' }] } }],
      [{ ...trusted, jwksUrl: 'https://a', maxAgeSeconds: 3_600, authorizedParties: ['portal'], scope: 'policies' }],
      [{ ...trusted, jwksUrl: 'https://a', groupsClaim: 'groups', accessTokensOnly: true }],
      Array.from({ length: 32 }, (_, at) => ({ ...trusted, issuer: `i${at}`, jwksUrl: 'https://a' })),
    ],
    [
      [trusted],
      [{ ...trusted, jwksUrl: 'ftp://a' }],
      [{ ...trusted, jwksUrl: 'http://a' }],
      [{ ...trusted, jwksUrl: 'https://a', maxAgeSeconds: 0 }],
      [{ ...trusted, jwksUrl: 'https://a', authorizedParties: [] }],
      [{ ...trusted, jwksUrl: 'https://a', jwks: { keys: [{}] } }],
      [{ ...trusted, jwks: { keys: [] } }],
      [{ ...trusted, jwks: '' }],
      [{ ...trusted, issuer: 'a|b', jwksUrl: 'https://a' }],
      [{ ...trusted, issuer: 'a'.repeat(256), jwksUrl: 'https://a' }],
      [{ ...trusted, jwksUrl: 'https://a', secret: 'x' }],
      Array.from({ length: 33 }, (_, at) => ({ ...trusted, issuer: `i${at}`, jwksUrl: 'https://a' })),
    ],
  ],
  ['auditExport.webhook.url', ['', 'https://siem.example/hook?a=b'], ['siem.example', 'ftp://a']],
  ['auditExport.webhook.existingSecret', ['', 'audit-key'], ['Audit', 'a'.repeat(254)]],
  ['auditExport.otlp.url', ['', 'http://collector:4318/v1/logs'], ['collector:4318', 'grpc://a']],
  ['traces.otlp.url', ['', 'http://collector:4318/v1/traces'], ['collector:4318', 'grpc://a']],
  ['traces.otlp.existingSecret', ['', 'collector-token'], ['Collector', 'a'.repeat(254)]],
  ['management.auditDays', [1, 36_500], [0, 36_501, '7']],
  ['retrieval.auditDays', [1, 36_500], [0, 36_501, '7']],
  ['memory.auditDays', [1, 36_500], [0, 36_501, '7']],
  ['management.requestsPerMinute', [1, 1_000_000], [0, 1_000_001, '60']],
  ['agents.dnsPeers', [[], [{ podSelector: {} }]], [{}, ['a']]],
  ['management.quotas.policies', [1, 1_000_000], [0, 1_000_001]],
  ['management.quotas.revisions', [1, 10_000_000], [0, 10_000_001]],
  ['management.quotas.revisionMib', [1, 1_048_576], [0, 1_048_577]],
  ['management.breakGlass.existingSecret', ['', 'emergency'], ['A', 1]],
  [
    'management.administrators',
    [[], [{ issuer: 'a', subject: 'system:serviceaccount:a:b' }], [{ issuer: 'a', subject: 'a b' }]],
    [[{ issuer: 'a' }], [{ issuer: 'a', subject: 'a,b' }], [{ issuer: 'a', subject: ' a' }], ['a|b']],
  ],
  ['management.relations', ['postgres', 'openfga'], ['redis', '']],
  ['management.openfga.url', ['', 'http://a.example:8080'], ['a', 'grpc://a']],
  ['management.openfga.store', ['abc', 'a'.repeat(64)], ['', 'ab', 'a'.repeat(65), 'a,b']],
  ['management.service.port', [1, 65_535], [0, 65_536]],
  ['console.replicas', [1, 64], [0, 65]],
  [
    'console.url',
    ['', 'https://a.example', 'https://a.example:8443'],
    ['http://a.example', 'https://a.example/x', 'a'],
  ],
  ['console.oidc.issuerUrl', ['', 'https://a.example/realms/b'], ['http://a.example', 'https://a.example/?b', 'a']],
  ['console.oidc.scope', ['openid', 'openid groups'], ['groups', 'openid  groups', 'openid "a"']],
  ['console.oidc.clientId', ['a', 'a'.repeat(255)], ['', 'a'.repeat(256)]],
  ['console.tenant', ['a', 'a'.repeat(255)], ['', 'a'.repeat(256)]],
  ['memory.enabled', [true, false], ['true', null]],
  ['memory.replicas', [1, 64], [0, 65]],
  ['memory.guard.servedPolicy', ['', 'a'.repeat(40)], ['a'.repeat(41), 'A']],
  ['memory.indexMib', [16, 96], [15, 65_537]],
  ['memory.eventConcurrency', [1, 64], [0, 65]],
  ['memory.quotas.userMemories', [1, 1_000_000], [0, 1_000_001]],
  ['memory.quotas.tenantUsers', [1, 1_000_000_000], [0, 1_000_000_001]],
  ['memory.quotas.tenantOpenEvents', [1, 10_000_000], [0, 10_000_001]],
  ['memory.worker.replicas', [0, 64], [-1, 65]],
  ['memory.issuers', [[], [{ ...trusted, jwksUrl: 'https://a.example/keys', tenants: ['a'] }]], [[trusted]]],
  ['agents.relations', ['postgres', 'openfga'], ['redis', '']],
  ['agents.openfga.url', ['', 'http://a.example:8080'], ['a', 'grpc://a']],
  ['agents.budgetPerMinute', [0, 1_000_000], [-1, 1_000_001]],
  ['agents.tokensPerDay', [0, 1_000_000_000_000], [-1, 1_000_000_000_001]],
  ['agents.bytesPerDay', [0, 1_000_000_000_000], [-1, 1_000_000_000_001]],
  ['agents.exposure', ['R1', 'R2'], ['r1', 'R3', '']],
  ['agents.budgetPerDay', [0, 100_000_000], [-1, 100_000_001]],
  [
    'agents.quota.hard',
    [{}, { pods: 0, 'requests.cpu': '500m', 'limits.memory': '1.5Gi' }],
    [{ pods: -1 }, { pods: 'many' }, { services: 1 }, ['pods']],
  ],
  ['catalogue.enabled', [true, false], ['true', null]],
  ['catalogue.replicas', [1, 64], [0, 65]],
  ['catalogue.issuers', [[], [{ ...trusted, jwksUrl: 'https://a.example/keys', groupsClaim: 'groups' }]], [[trusted]]],
  ['catalogue.guard.servedPolicy', ['', 'a'.repeat(40)], ['a'.repeat(41), 'A']],
  ['catalogue.indexMib', [16, 65_536], [15, 65_537]],
  ['catalogue.requestsPerCaller', [1, 10_000], [0, 10_001]],
  ['catalogue.requestsPerMinute', [1, 1_000_000], [0, 1_000_001]],
  ['catalogue.massRemoval', ['pause', 'accept'], ['ignore', '']],
  ['catalogue.events.url', ['', 'https://a.example/b'], ['a', 'nats://a']],
  ['catalogue.events.source', ['/a', 'a'.repeat(255)], ['', 'a b', 'a'.repeat(256)]],
  ['catalogue.events.nats.url', ['', 'tls://a.example'], ['nats://u:p@a.example', 'http://a']],
  ['catalogue.events.nats.stream', ['a', 'a'.repeat(100)], ['', 'a'.repeat(101), 'a.b']],
  ['networkPolicy.catalogueFrom', [[], [{ podSelector: {} }]], [{}, ['a']]],
  ['retrieval.enabled', [true, false], ['true', null]],
  ['retrieval.replicas', [1, 64], [0, 65]],
  ['retrieval.worker.replicas', [0, 64], [-1, 65]],
  ['retrieval.logLevel', ['debug', 'error'], ['trace', 'INFO']],
  [
    'retrieval.issuers',
    [
      [],
      [{ ...trusted, jwksUrl: 'https://a.example/keys', groupsClaim: 'groups', tenantsClaim: 'tenants' }],
      [{ ...trusted, jwks: { keys: [{ kty: 'RSA' }] }, tenants: ['a'] }],
    ],
    [
      [trusted],
      [{ ...trusted, jwksUrl: 'https://a.example/keys', groups: 'groups' }],
      [{ ...trusted, jwksUrl: 'https://a.example/keys', tenants: [''] }],
    ],
  ],
  [
    'retrieval.profiles.embedding',
    [
      [],
      [{ id: 'a', model: 'm', dimension: 1 }],
      [{ id: 'a', model: 'm', dimension: 8_192 }],
      Array.from({ length: 64 }, (_, at) => ({ id: `a${at}`, model: 'm', dimension: 8 })),
    ],
    [
      [{ id: 'a', model: 'm', dimension: 0 }],
      [{ id: 'a', model: 'm', dimension: 8_193 }],
      [{ id: 'a', model: 'm' }],
      [{ id: 'a b', model: 'm', dimension: 8 }],
      [{ id: 'a', model: 'm', dimension: 8, url: 'https://a.example' }],
      Array.from({ length: 65 }, (_, at) => ({ id: `a${at}`, model: 'm', dimension: 8 })),
    ],
  ],
  ['retrieval.profiles.rerank', [[], [{ id: 'a', model: 'm' }]], [[{ id: 'a' }]]],
  [
    'retrieval.profiles.rewrite',
    [[{ id: 'a', model: 'm', timeoutMs: 60_000 }]],
    [[{ id: 'a', model: 'm', timeoutMs: 60_001 }]],
  ],
  [
    'retrieval.collections.tenants',
    [[], ['*'], ['a b', 'c'], ['a'.repeat(255)], Array.from({ length: 1_024 }, (_, at) => `t${at}`)],
    [['a,b'], [' a'], ['a '], [''], ['a'.repeat(256)], 'a', Array.from({ length: 1_025 }, (_, at) => `t${at}`)],
  ],
  ['retrieval.guard.servedPolicy', ['', 'a'.repeat(40)], ['a'.repeat(41), 'A']],
  ['retrieval.emptyAclPolicy', ['reject', 'strictest'], ['allow', '']],
  ['retrieval.indexMib', [16, 65_536], [15, 65_537]],
  ['retrieval.ingestConcurrency', [1, 64], [0, 65]],
  ['retrieval.quotas.tenantCollections', [1, 10_000_000], [0, 10_000_001]],
  ['retrieval.quotas.tenantDocuments', [1, 1_000_000_000], [0, 1_000_000_001]],
  ['retrieval.quotas.tenantOpenJobs', [1, 10_000_000], [0, 10_000_001]],
  ['retrieval.quotas.tenantMib', [1, 100_000_000], [0, 100_000_001]],
  ['retrieval.relations', ['postgres', 'openfga'], ['redis', '']],
  ['retrieval.staging.store', ['claim', 's3'], ['emptyDir', 'none', '']],
  ['retrieval.staging.claim.size', ['1Mi', '4Gi'], ['', '0Gi', '4']],
  ['retrieval.staging.claim.accessMode', ['ReadWriteOnce', 'ReadWriteMany'], ['ReadOnlyMany', '']],
  ['retrieval.s3.url', ['', 'https://s3.example:9000'], ['s3://a', 'a']],
  ['retrieval.s3.bucket', ['', 'abc', `a${'b'.repeat(61)}c`], ['ab', 'A-b', `a${'b'.repeat(62)}c`, 'a/b']],
  ['retrieval.s3.region', ['us-east-1', 'a'.repeat(64)], ['', 'a'.repeat(65), 'US']],
  [
    'retrieval.nats.url',
    ['', 'nats://a.example:4222', 'tls://a.example'],
    ['nats://u:p@a.example', 'http://a', 'nats://a/b'],
  ],
  [
    'retrieval.opensearch.url',
    ['', 'http://a.example:9200', 'https://a/search'],
    ['a', 'nats://a', 'https://u:p@a.example', 'https://a?b=c'],
  ],
  ['retrieval.opensearch.user', ['', 'a', 'a'.repeat(100)], ['a:b', 'a b', 'a'.repeat(101)]],
  ['retrieval.opensearch.prefix', ['a', '1-a', 'a'.repeat(40)], ['', 'a'.repeat(41), '-a', 'A', 'a.b']],
  ['retrieval.nats.stream', ['a', 'a'.repeat(100)], ['', 'a'.repeat(101), 'a.b']],
  ['retrieval.contentSources.s3', [{}, { sales: ['s3://b/f/'] }], [{ sales: 's3://b/f/' }, []]],
  ['retrieval.contentSources.allowedNetworks', [[], ['10.1.0.0/16']], [[1], '10.1.0.0/16']],
  ['retrieval.contentSources.tenantNetworks', [{}, { sales: ['10.1.0.0/16'] }], [{ sales: '10.1.0.0/16' }, []]],
  ['networkPolicy.retrievalFrom', [[], [{ podSelector: {} }]], [{}, ['a']]],
  ['postgresql.persistence', ['claim', 'none'], ['', 'emptyDir', true]],
  ['postgresql.storage.size', ['1Mi', '4Gi', '100G', '2Ti'], ['', '0Gi', '4', '1.5Gi', '4GB']],
  ['postgresql.storage.storageClassName', ['', 'fast.ssd'], ['Fast', 'a'.repeat(254)]],
  ['postgresql.image.digest', ['', digest], ['sha256:0']],
  ['postgresql.image.repository', ['a', 'host.example:5000/a/b'], ['', '/a']],
  [
    'externalDatabase.url',
    ['', 'postgres://u@h/d', 'postgresql://u@h:6432/d?sslmode=verify-full'],
    ['mysql://u@h/d', 'postgres://u@h', 'postgres:///d', 'h:5432'],
  ],
  ['networkPolicy.managementFrom', [[], [{ podSelector: {} }]], [{}, ['a']]],
  ['runtime.labels', [{ a: 'b' }], [{ 'portcullis.dev/workload': 'b' }, { a: 1 }]],
  ['runtime.preStopSeconds', [0, 600], [-1, 601]],
  ['runtime.terminationGraceSeconds', [1, 3_600], [0, 3_601]],
  ['networkPolicy.apiServerPorts', [[1], [65_535]], [[], [0], [65_536], 443]],
  ['networkPolicy.gatewayFrom', [[], [{ podSelector: {} }]], [{}, ['a']]],
  ['serviceMonitor.interval', ['15s', '1m'], ['0s', '15', '1h', '']],
  ['prometheusRule.runbookUrl', ['', 'https://a.example/b'], ['a', 'file:///a']],
  ['dashboard.labels', [{}, { grafana_dashboard: '1' }], [{ a: 1 }]],
  ['global', [{}, { anything: 1 }], ['a']],
];

test('the defaults and every values file are valid against the schema', () => {
  expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true);
  for (const file of valuesFiles) {
    const values = merged(parse(text), parse(readFileSync(valuesPath(file), 'utf8')));
    expect(validate(values), `${file}: ${JSON.stringify(validate.errors)}`).toBe(true);
  }
});

test.each(edges)('the chart value %s is accepted up to its limits and refused beyond them', (path, good, bad) => {
  for (const value of good) expect(accepts(path, value), JSON.stringify(value)).toBe(true);
  for (const value of bad) expect(accepts(path, value), JSON.stringify(value)).toBe(false);
});

describe('unknown keys are refused', () => {
  const known = groups(schema).filter(({ path }) => path[0] !== 'limits');

  test.each(known.map((one) => [one.path.join('.') || 'the root', one] as const))(
    'an unknown key in %s of the chart values is refused',
    (_title, { path }) => {
      const over = [...path, 'replica'].reduceRight<unknown>((inner, key) => ({ [key]: inner }), 1);
      expect(validate(merged(parse(text), over))).toBe(false);
    },
  );

  test('the test helper that searches maps in the values schema finds nested maps', () => {
    expect(known.length).toBeGreaterThan(20);
    expect(known.map(({ path }) => path.join('.'))).toContain('gateway.podDisruptionBudget');
  });
});

describe('values.yaml', () => {
  const values = readValues(text);
  const pathOf = ({ path }: ChartValue): string => path.join('.');

  test('values.yaml has exactly the keys of the schema', () => {
    const inSchema = groups(schema)
      .flatMap(({ path, keys }) => keys.map((key) => [...path, key].join('.')))
      .filter((path) => !/^(global|limits\..*|.*\.resources\.(requests|limits))$/.test(path));
    const inFile = values.map(pathOf);
    expect(inFile.toSorted()).toEqual(inSchema.toSorted());
  });

  test('values.yaml describes every value', () => {
    for (const one of values.filter(({ isGroup }) => !isGroup)) {
      const key = one.path.at(-1);
      expect(one.comment, pathOf(one)).toMatch(new RegExp(`^${key}[ ,]`));
    }
  });
});

describe('Helm', () => {
  skipWithout(missingHelm);
  // Many rows have the same valid values.
  const rendered = new Map<string, ReturnType<typeof helm>>();
  function render(...args: readonly string[]): ReturnType<typeof helm> {
    const key = JSON.stringify(args);
    const end = rendered.get(key) ?? helm(['template', 'r', chartFolder, ...args]);
    rendered.set(key, end);
    return end;
  }

  test.each([
    ['--set=gateway.replicas=0', /gateway.*replicas|minimum/is],
    ['--set=gateway.replica=2', /replica/],
    ['--set=operator=null', /operator/],
    ['--set=commonLabels.app\\.kubernetes\\.io/name=x', /invalid propertyName 'app.kubernetes.io.name'/],
  ])('Helm refuses %s by the schema', async (argument, sentence) => {
    const { code, stderr } = await render(argument);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/values don't meet the specifications of the schema/);
    expect(stderr).toMatch(sentence);
  });

  const provider = (name: string, index = 0): readonly string[] =>
    [`name=${name}`, 'kind=model', 'endpoint=http://a', 'enabled=true'].map(
      (one) => `--set=providers[${index}].${one}`,
    );
  const policy = (name: string, index = 0): readonly string[] =>
    [`name=${name}`, 'policyRef.name=p', 'policyRef.revision=1', 'contentProfile=c'].map(
      (one) => `--set=servedPolicies[${index}].${one}`,
    );

  const password = '--set=externalDatabase.password.existingSecret=p';
  const outside = ['--set=postgresql.enabled=false', '--set=externalDatabase.url=postgres://u@h/d', password];
  const issuer = (name: string, index = 0): readonly string[] =>
    [`issuer=${name}`, 'audience=c', 'jwksUrl=https://a'].map((one) => `--set=management.issuers[${index}].${one}`);
  const administrator = (name: string): readonly string[] =>
    [`issuer=${name}`, 'subject=somebody'].map((one) => `--set=management.administrators[0].${one}`);
  const keys = (text: string): readonly string[] => [
    '--set=management.issuers[0].issuer=a',
    '--set=management.issuers[0].audience=c',
    `--set-literal=management.issuers[0].jwks=${text}`,
  ];

  const login = '--set=console.oidc.issuerUrl=https://a';
  const pages = ['--set=console.enabled=true', '--set=console.url=https://b'];
  const memory = ['--set=memory.enabled=true'];
  const agents = ['enabled=true', 'publicUrl=https://a', 'issuer=https://b'].map((one) => `--set=agents.${one}`);
  const quota = [...agents, '--set=agents.quota.hard.pods=1', '--set=agents.priorityClassName=a'];
  const catalogue = [...agents, '--set=catalogue.enabled=true'];
  const embedding = ['id=a', 'model=m', 'dimension=8'].map((one) => `--set=catalogue.profiles.embedding[0].${one}`);
  const gatewayKeys = ['gateway.clientKeys', 'agents.gatewayKey'].map((one) => `--set=${one}.existingSecret=k`);
  const retrieval = ['--set=retrieval.enabled=true'];
  const searchUser = (url: string): readonly string[] => [
    `--set=retrieval.opensearch.url=${url}`,
    '--set=retrieval.opensearch.user=u',
    '--set=retrieval.opensearch.credentials.existingSecret=s',
  ];
  const many = [...retrieval, '--set=retrieval.staging.claim.accessMode=ReadWriteMany'];
  const bucket = ['--set=retrieval.s3.url=http://s', '--set=retrieval.s3.bucket=abc'];
  const s3Keys = '--set=retrieval.s3.credentials.existingSecret=k';
  const staged = [...retrieval, '--set=retrieval.staging.store=s3', ...bucket];
  const alike = (kind: string, second: string): readonly string[] =>
    ['a', second].flatMap((id, at) =>
      [`id=${id}`, 'model=m', ...(kind === 'embedding' ? ['dimension=8'] : [])].map(
        (one) => `--set=retrieval.profiles.${kind}[${at}].${one}`,
      ),
    );

  test.each([
    ['a provider named echo beside the offline model', provider('echo'), provider('other'), /echo is listed twice/],
    [
      'a provider that is listed twice',
      [...provider('a'), ...provider('a', 1)],
      [...provider('a'), ...provider('b', 1)],
      /a is listed twice/,
    ],
    [
      'a served policy that is listed twice',
      [...policy('a'), ...policy('a', 1)],
      [...policy('a'), ...policy('b', 1)],
      /a is listed twice/,
    ],
    [
      'a database of the chart beside another one',
      ['--set=externalDatabase.url=postgres://u@h/d', password],
      outside,
      /set postgresql.enabled=false to use externalDatabase.url/,
    ],
    [
      'a management API without a database',
      ['--set=postgresql.enabled=false'],
      ['--set=postgresql.enabled=false', '--set=management.enabled=false'],
      /set postgresql.enabled=true or externalDatabase.url, or disable the API with management.enabled=false/,
    ],
    [
      'a password in a URL',
      [...outside, '--set=externalDatabase.url=postgres://u:secret@h/d'],
      outside,
      /externalDatabase.url contains a password: store it in a Secret/,
    ],
    [
      'an external database without a Secret',
      outside.filter((one) => one !== password),
      outside,
      /externalDatabase.password.existingSecret must name/,
    ],
    [
      'an issuer that is listed twice',
      [...issuer('a'), ...issuer('a', 1)],
      [...issuer('a'), ...issuer('b', 1)],
      /management.issuers: a is listed twice/,
    ],
    [
      'an administrator of an issuer that is not listed',
      [...issuer('a'), ...administrator('b')],
      [...issuer('a'), ...administrator('a')],
      /the issuer b of somebody is not in management.issuers/,
    ],
    [
      'a value that is not a key set',
      [...keys('nothing')],
      [...keys('{"keys":[{}]}')],
      /jwks of a must be a JSON Web Key Set/,
    ],
    ['a private key', [...keys('{"keys":[{"d":"x"}]}')], [...keys('{"keys":[{"x":"x"}]}')], /only public keys/],
    [
      'OpenFGA without an address',
      ['--set=management.relations=openfga'],
      ['--set=management.relations=openfga', '--set=management.openfga.url=http://a'],
      /management.openfga.url must be set/,
    ],
    [
      'more replicas than the database of the chart has connections for',
      ['--set=management.replicas=9'],
      ['--set=management.replicas=8'],
      /connections for 196, and the replicas need 198 during a rollout/,
    ],
    [
      'more replicas before an external database',
      [...outside, '--set=management.replicas=65'],
      [...outside, '--set=management.replicas=64'],
      /replicas/,
    ],
    [
      'a database without a user',
      ['--set=runAsUser='],
      ['--set=runAsUser=', ...outside],
      /set runAsUser to an id .* or use externalDatabase.url with postgresql.enabled=false, or disable the services that need it: management.enabled=false, retrieval.enabled=false/,
    ],
    [
      'several retrieval replicas before a claim of one pod',
      [...retrieval, '--set=retrieval.replicas=2'],
      [...many, '--set=retrieval.replicas=2'],
      /2 pods cannot share a staging claim of the access mode ReadWriteOnce/,
    ],
    [
      'a retrieval worker before a claim of one pod',
      [...retrieval, '--set=retrieval.worker.replicas=1'],
      [...staged, s3Keys, '--set=retrieval.worker.replicas=1'],
      /set retrieval.staging.store=s3, or retrieval.staging.claim.accessMode=ReadWriteMany/,
    ],
    [
      'staging in S3 without a bucket',
      [...staged, s3Keys, '--set=retrieval.s3.bucket='],
      [...staged, s3Keys],
      /retrieval.s3.url and retrieval.s3.bucket must be set/,
    ],
    ['S3 without credentials', staged, [...staged, s3Keys], /retrieval.s3.credentials.existingSecret must name/],
    [
      'a retrieval service without a database',
      [...retrieval, '--set=management.enabled=false', '--set=postgresql.enabled=false'],
      [...retrieval, '--set=management.enabled=false', ...outside],
      /the retrieval service needs a database/,
    ],
    [
      'a retrieval service without a client key of the gateway',
      [...retrieval, '--set=gateway.clientKeys.existingSecret=k'],
      [...retrieval, '--set=gateway.clientKeys.existingSecret=k', '--set=retrieval.gatewayKey.existingSecret=r'],
      /retrieval.gatewayKey.existingSecret must name/,
    ],
    [
      'a console without the management API',
      [...pages, login, '--set=management.enabled=false'],
      [...pages, login],
      /console.enabled needs management.enabled=true/,
    ],
    [
      'a console without an address',
      ['--set=console.enabled=true', login],
      [...pages, login],
      /console.url must be set/,
    ],
    ['a console without a provider', pages, [...pages, login], /console.oidc.issuerUrl must be set/],
    [
      'an HTTPRoute of the console without a Gateway',
      [...pages, login, '--set=console.httpRoute.enabled=true'],
      [...pages, login, '--set=console.httpRoute.enabled=true', '--set=console.httpRoute.parentRefs[0].name=g'],
      /console.httpRoute.parentRefs must name a Gateway/,
    ],
    [
      'a guard of documents that is not served',
      [...retrieval, ...policy('a'), '--set=retrieval.guard.servedPolicy=b'],
      [...retrieval, ...policy('a'), '--set=retrieval.guard.servedPolicy=a'],
      /retrieval.guard.servedPolicy: b is not in servedPolicies/,
    ],
    [
      'a guard of memories that is not served',
      [...memory, ...policy('a'), '--set=memory.guard.servedPolicy=b'],
      [...memory, ...policy('a'), '--set=memory.guard.servedPolicy=a'],
      /memory.guard.servedPolicy: b is not in servedPolicies/,
    ],
    [
      'a guard of cards that is not served',
      [...catalogue, ...policy('a'), '--set=catalogue.guard.servedPolicy=b'],
      [...catalogue, ...policy('a'), '--set=catalogue.guard.servedPolicy=a'],
      /catalogue.guard.servedPolicy: b is not in servedPolicies/,
    ],
    [
      'a memory limit of retrieval below that of its index',
      [...retrieval, '--set=retrieval.indexMib=1025'],
      [...retrieval, '--set=retrieval.indexMib=1024'],
      /retrieval.resources.limits.memory must be at least 1537Mi: .*; raise it, or lower retrieval.indexMib to 1024$/m,
    ],
    [
      'less memory of retrieval than its processes need beside OpenSearch',
      [...retrieval, '--set=retrieval.resources.limits.memory=511Mi', '--set=retrieval.opensearch.url=http://a:9200'],
      [...retrieval, '--set=retrieval.resources.limits.memory=512Mi', '--set=retrieval.opensearch.url=http://a:9200'],
      /retrieval.resources.limits.memory must be at least 512Mi: .*; raise it$/m,
    ],
    [
      'a user of OpenSearch without the Secret of its password',
      [...retrieval, '--set=retrieval.opensearch.url=https://a', '--set=retrieval.opensearch.user=u'],
      [...retrieval, ...searchUser('https://a')],
      /retrieval.opensearch.user and retrieval.opensearch.credentials.existingSecret must be set together/,
    ],
    [
      'a password for OpenSearch over http',
      [...retrieval, ...searchUser('http://a')],
      [...retrieval, ...searchUser('https://a')],
      /retrieval.opensearch.url must begin with https/,
    ],
    [
      'authorities of OpenSearch without its address',
      [...retrieval, '--set=retrieval.opensearch.authorities.existingConfigMap=a'],
      [
        ...retrieval,
        '--set=retrieval.opensearch.authorities.existingConfigMap=a',
        '--set=retrieval.opensearch.url=https://a',
      ],
      /retrieval.opensearch.url must be set/,
    ],
    [
      'more retrieval replicas than the database of the chart has connections for',
      [...many, '--set=retrieval.replicas=7'],
      [...many, '--set=retrieval.replicas=6'],
      /connections for 196, and the replicas need 212 during a rollout/,
    ],
    [
      'a memory limit of the memory service below that of its index',
      [...memory, '--set=memory.resources.limits.memory=511Mi'],
      [...memory, '--set=memory.resources.limits.memory=512Mi'],
      /memory.resources.limits.memory must be at least 512Mi: twice indexMib plus 320Mi; raise it, or lower memory.indexMib to 95$/m,
    ],
    [
      'the index of earlier releases in the memory limit of memory',
      [...memory, '--set=memory.indexMib=128'],
      [...memory, '--set=memory.indexMib=96'],
      /memory.resources.limits.memory must be at least 576Mi: twice indexMib plus 320Mi; raise it, or lower memory.indexMib to 96$/m,
    ],
    [
      'a memory limit of memory that holds no index',
      [...memory, '--set=memory.resources.limits.memory=351Mi'],
      [...memory, '--set=memory.resources.limits.memory=352Mi', '--set=memory.indexMib=16'],
      /memory.resources.limits.memory must be at least 512Mi: twice indexMib plus 320Mi; raise it$/m,
    ],
    [
      'a memory limit of memory workers below that of their index',
      [...memory, '--set=memory.worker.resources.limits.memory=511Mi'],
      [...memory, '--set=memory.worker.resources.limits.memory=512Mi'],
      /memory.worker.resources.limits.memory must be at least 512Mi: twice indexMib plus 320Mi/,
    ],
    [
      'a profile of memories that is not listed',
      [...memory, '--set=memory.embeddingProfile=a'],
      [
        ...[...memory, '--set=memory.embeddingProfile=a', '--set=memory.profiles.embedding[0].id=a'],
        ...['--set=memory.profiles.embedding[0].model=m', '--set=memory.profiles.embedding[0].dimension=8'],
      ],
      /memory.embeddingProfile: a is not in memory.profiles.embedding/,
    ],
    [
      'more memory workers than the database of the chart has connections for',
      [...memory, '--set=memory.worker.replicas=6'],
      [...memory, '--set=memory.worker.replicas=5'],
      /connections for 196, and the replicas need 198 during a rollout/,
    ],
    [
      'more retrieval replicas than the memory service leaves connections for',
      [...memory, ...many, '--set=retrieval.replicas=6'],
      [...memory, ...many, '--set=retrieval.replicas=5'],
      /connections for 196, and the replicas need 210 during a rollout/,
    ],
    [
      'more gateways with agents than the database of the chart has connections for',
      [...agents, '--set=gateway.replicas=8'],
      [...agents, '--set=gateway.replicas=7'],
      /connections for 196, and the replicas need 216 during a rollout/,
    ],
    [
      'more gateways with a budget of runs than the database of the chart has connections for',
      [...agents, '--set=agents.budgetPerDay=1', '--set=gateway.replicas=6'],
      [...agents, '--set=agents.budgetPerDay=1', '--set=gateway.replicas=5'],
      /connections for 196, and the replicas need 224 during a rollout/,
    ],
    [
      'a quota of agents without a priority class',
      [...agents, '--set=agents.quota.hard.pods=1'],
      [...agents, '--set=agents.quota.hard.pods=1', '--set=agents.priorityClassName=a'],
      /agents.quota.hard needs agents.priorityClassName/,
    ],
    [
      'a quota of agents that would count the pods of gateways',
      [...quota, '--set=gateway.priorityClassName=a'],
      [...quota, '--set=gateway.priorityClassName=b'],
      /agents.quota.hard would count the pods of gateway, too/,
    ],
    [
      'a quota of agents that no pod of an agent could meet',
      [...quota, '--set=agents.quota.hard.limits\\.cpu=4'],
      [...quota, '--set=agents.quota.hard.limits\\.cpu=4', '--set-string=agents.resources.limits.cpu=1'],
      /every pod must have what limits.cpu counts/,
    ],
    [
      'OpenFGA without an address for agents',
      [...agents, '--set=agents.relations=openfga'],
      [...agents, '--set=agents.relations=openfga', '--set=agents.openfga.url=http://a'],
      /agents.openfga.url must be set/,
    ],
    [
      'a catalogue without agents',
      ['--set=catalogue.enabled=true'],
      catalogue,
      /catalogue.enabled needs agents.enabled=true/,
    ],
    [
      'a catalogue without a client key of the gateway',
      [...catalogue, ...gatewayKeys],
      [...catalogue, ...gatewayKeys, '--set=catalogue.gatewayKey.existingSecret=c'],
      /catalogue.gatewayKey.existingSecret must name/,
    ],
    [
      'a profile of agents that is not listed',
      [...catalogue, '--set=catalogue.embeddingProfile=a'],
      [...catalogue, '--set=catalogue.embeddingProfile=a', ...embedding],
      /catalogue.embeddingProfile: a is not in catalogue.profiles.embedding/,
    ],
    [
      'a webhook of agents without a secret',
      [...catalogue, '--set=catalogue.events.url=https://a'],
      [...catalogue, '--set=catalogue.events.url=https://a', '--set=catalogue.events.secret.existingSecret=s'],
      /catalogue.events.url and catalogue.events.secret.existingSecret must be set together/,
    ],
    [
      'two receivers of events of agents',
      [
        ...[...catalogue, '--set=catalogue.events.url=https://a', '--set=catalogue.events.secret.existingSecret=s'],
        '--set=catalogue.events.nats.url=nats://a',
      ],
      [...catalogue, '--set=catalogue.events.nats.url=nats://a'],
      /catalogue.events.url and catalogue.events.nats.url are two receivers/,
    ],
    [
      'a memory limit of the catalogue below that of its index',
      [...catalogue, '--set=catalogue.resources.limits.memory=511Mi'],
      [...catalogue, '--set=catalogue.resources.limits.memory=512Mi'],
      /catalogue.resources.limits.memory must be at least 512Mi: twice indexMib plus 256Mi; raise it, or lower catalogue.indexMib to 127$/m,
    ],
    [
      'more catalogue replicas than the database of the chart has connections for',
      [...catalogue, '--set=catalogue.replicas=5'],
      [...catalogue, '--set=catalogue.replicas=4'],
      /connections for 196, and the replicas need 206 during a rollout/,
    ],
    [
      'more retrieval replicas than a rollout of all other services leaves connections for',
      [...catalogue, ...memory, ...many, '--set=retrieval.replicas=3'],
      [...catalogue, ...memory, ...many, '--set=retrieval.replicas=2'],
      /connections for 196, and the replicas need 220 during a rollout/,
    ],
    [
      'monitors that no network policy lets reach runtimes',
      ['--set=serviceMonitor.enabled=true'],
      [
        '--set=serviceMonitor.enabled=true',
        '--set=networkPolicy.monitoringFrom[0].podSelector.matchLabels.app=prometheus',
      ],
      /serviceMonitor.enabled needs networkPolicy.monitoringFrom .*no scraper reaches runtimes.*; it then also limits who reads the metrics of the other components/,
    ],
    [
      'monitors of runtimes with network policies and without a peer',
      ['--set=serviceMonitor.enabled=true', '--set=prometheusRule.enabled=true'],
      ['--set=serviceMonitor.enabled=true', '--set=prometheusRule.enabled=true', '--set=networkPolicy.enabled=false'],
      /serviceMonitor.enabled needs networkPolicy.monitoringFrom/,
    ],
    [
      'OpenFGA without an address for retrieval',
      [...retrieval, '--set=retrieval.relations=openfga'],
      [...retrieval, '--set=retrieval.relations=openfga', '--set=retrieval.openfga.url=http://a'],
      /retrieval.openfga.url must be set/,
    ],
    [
      'an embedding profile that is listed twice',
      [...retrieval, ...alike('embedding', 'a')],
      [...retrieval, ...alike('embedding', 'b')],
      /retrieval.profiles.embedding: a is listed twice/,
    ],
    [
      'a rerank profile that is listed twice',
      [...retrieval, ...alike('rerank', 'a')],
      [...retrieval, ...alike('rerank', 'b')],
      /retrieval.profiles.rerank: a is listed twice/,
    ],
    [
      'a termination grace period that is too short',
      ['--set=runtime.preStopSeconds=23'],
      ['--set=runtime.preStopSeconds=22'],
      /at least 31/,
    ],
  ])(
    'the chart refuses %s with a message and accepts the nearest valid values',
    async (_title, bad, good, sentence) => {
      const refused = await render(...bad);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toMatch(sentence);
      expect(await render(...good)).toMatchObject({ code: 0 });
    },
  );

  test('the chart refuses a Kubernetes version before 1.33', async () => {
    expect((await render('--kube-version=1.32.9')).stderr).toMatch(/incompatible with Kubernetes/);
    expect(await render('--kube-version=1.33.0')).toMatchObject({ code: 0 });
  });
});
