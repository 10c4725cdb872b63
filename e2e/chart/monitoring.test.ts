import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { agentGatewayErrors } from '#contracts/agent-gateway-errors';
import { createMetrics, type MetricRow } from '#kit/metrics/metrics';
import { createElectionMeter } from '#kube/election/election-metrics';
import { createAgentMetrics } from '../../dataplane/agents/monitoring/metrics.ts';
import { createCatalogueMetrics } from '../../dataplane/catalogue/monitoring/metrics.ts';
import { createConsoleMetrics } from '../../dataplane/console/monitoring/metrics.ts';
import { createAgentCallMetrics } from '../../dataplane/gateway/agents/metrics/agent-call-metrics.ts';
import { createConnectionMetrics } from '../../dataplane/gateway/agents/metrics/connection-metrics.ts';
import { createGatewayMetrics } from '../../dataplane/gateway/metrics/gateway-metrics.ts';
import { createMemoryMetrics } from '../../dataplane/memory/monitoring/metrics.ts';
import { createPostgresMetrics } from '../../dataplane/postgres/monitoring/metrics.ts';
import { createRetrievalMetrics } from '../../dataplane/retrieval/monitoring/metrics.ts';
import { root } from '../../hack/check/run-tool.ts';
import { createAgentCounts } from '../../operator/composition/agent-counts.ts';
import { createBindingCounts } from '../../operator/composition/binding-counts.ts';
import { createFilesGauge } from '../../operator/environment/watch-environment.ts';
import { createManagementMetrics } from '../../operator/management/monitoring/metrics.ts';
import { createReconcileMeter } from '../../operator/reconcile/reconcile-metrics.ts';
import { createRuntimeMeters } from '../../runtime/metrics.ts';
import { chartFolder, missingHelm, skipWithout } from './tools/helm.ts';
import { ofKind, type Rendered, renderChart, renderFile } from './tools/render-chart.ts';

type Alert = {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};
type RuleSpec = { readonly spec: { readonly groups: readonly { readonly rules: readonly Alert[] }[] } };
type MonitorSpec = {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly endpoints: readonly { readonly port: string; readonly path: string }[];
  };
};
type Panel = { readonly type: string; readonly title: string; readonly targets?: readonly { readonly expr: string }[] };
type Dashboard = {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
};

/** Metrics that the process declares and those that the platform adds. */
async function seriesOf(service: string): Promise<{ rows: readonly MetricRow[]; names: ReadonlySet<string> }> {
  const metrics = createMetrics({ service });
  if (service === 'gateway') {
    const { registry } = createGatewayMetrics();
    createAgentCallMetrics(registry);
    createConnectionMetrics(registry);
    return describeRegistry(registry);
  }
  if (service === 'catalogue') return describeRegistry(createCatalogueMetrics().registry);
  if (service === 'console') return describeRegistry(createConsoleMetrics().registry);
  if (service === 'management') return describeRegistry(createManagementMetrics().registry);
  if (service === 'postgres') return describeRegistry(createPostgresMetrics().registry);
  if (service === 'agent') return describeRegistry(createAgentMetrics().registry);
  if (service === 'memory') return describeRegistry(createMemoryMetrics().registry);
  if (service === 'retrieval') return describeRegistry(createRetrievalMetrics().registry);
  if (service === 'runtime') createRuntimeMeters(metrics);
  else {
    createReconcileMeter(metrics);
    createElectionMeter(metrics, 'portcullis-operator');
    createBindingCounts(metrics);
    createAgentCounts(metrics);
    createFilesGauge(metrics);
  }
  return describeRegistry(metrics);
}

async function describeRegistry(metrics: ReturnType<typeof createMetrics>) {
  const text = await metrics.exposition();
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return { rows: metrics.describeMetrics(), names: new Set(names) };
}

const services = new Map(
  await Promise.all(
    [
      ...['operator', 'gateway', 'runtime', 'management', 'postgres', 'retrieval', 'memory', 'catalogue', 'console'],
      'agent',
    ].map(async (one) => [one, await seriesOf(one)] as const),
  ),
);
/** Labels that a scrape adds: the labels of the target, and labels of the pod that the PodMonitor names. */
const targetLabels = ['namespace', 'pod', 'portcullis_dev_workload', 'portcullis_dev_agent_workload'];

type Selector = {
  readonly name: string;
  readonly matchers: readonly (readonly [label: string, sign: string, value: string])[];
};

function selectorsOf(expression: string): readonly Selector[] {
  return [...expression.matchAll(/([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}/g)].map(([, name = '', text = '']) => ({
    name,
    matchers: [...text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(
      ([, label = '', sign = '', value = '']) => [label, sign, value] as const,
    ),
  }));
}

/** Problems of a selector: unknown metrics, labels or values. */
function problemsOf({ name, matchers }: Selector): readonly string[] {
  const named = matchers.find(([label]) => label === 'service')?.[2] ?? '[a-z]+';
  const of = [...services].filter(([service]) => new RegExp(`^(${named})$`).test(service)).map(([, series]) => series);
  const holders = of.filter(({ names }) => names.has(name));
  if (holders.length === 0) return [`${name} is not a metric of ${named}`];
  const row = holders.flatMap(({ rows }) => rows).find((one) => one.name === name.replace(/_(bucket|sum|count)$/, ''));
  return matchers.flatMap(([label, sign, value]) => {
    if (label === 'service' || targetLabels.includes(label)) return [];
    const known = row?.labels.find((one) => one.name === label);
    if (known === undefined) return [`${name} has no label ${label}`];
    if (known.values.startsWith('at most') || value.startsWith('$')) return [];
    const values = known.values.split(', ');
    const wanted = sign === '=' || sign === '!=' ? [value] : value.split('|');
    return wanted.filter((one) => !values.includes(one)).map((one) => `${label} of ${name} is never ${one}`);
  });
}

/** Words of an expression that are not metrics: functions, operators and grouping labels. */
function groupsOf(expression: string): readonly string[] {
  return [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((one) => one.trim()),
  );
}

function judge(expression: string): readonly string[] {
  const selectors = selectorsOf(expression);
  if (selectors.length === 0) return [`${expression} selects nothing`];
  const labels = selectors.flatMap(({ name }) =>
    [...services.values()].flatMap(({ rows }) =>
      rows.filter((row) => row.name === name.replace(/_(bucket|sum|count)$/, '')).flatMap((row) => row.labels),
    ),
  );
  const known = ['le', 'service', ...targetLabels, ...labels.map(({ name }) => name)];
  const strange = groupsOf(expression).filter((label) => !known.includes(label));
  return [...selectors.flatMap(problemsOf), ...strange.map((label) => `${label} is a label of none of the metrics`)];
}

const pages = 'https://docs.example.com/runbooks';
/** Runbooks that a process refers to in a message, without an alert. */
const named = ['docs/runbooks/database-of-another-major-version.md'];

function alertsOf(objects: readonly Rendered[]): readonly Alert[] {
  const rules = ofKind(objects, 'PrometheusRule') as readonly (Rendered & RuleSpec)[];
  return rules.flatMap(({ spec }) => spec.groups.flatMap((group) => group.rules));
}

test('the check of monitoring queries detects unknown metrics, labels and values', () => {
  expect(judge('rate(portcullis_gateway_requests_total{service="gateway", outcome="denied"}[5m])')).toEqual([]);
  expect(judge('portcullis_gateway_request_total{service="gateway"}')).toHaveLength(1);
  expect(judge('portcullis_gateway_requests_total{service="runtime"}')).toHaveLength(1);
  expect(judge('portcullis_gateway_requests_total{outcome="deny"}')).toHaveLength(1);
  expect(judge('portcullis_gateway_requests_total{result="denied"}')).toHaveLength(1);
  expect(judge('sum by (model) (portcullis_gateway_requests_total{outcome="denied"})')).toHaveLength(1);
});

describe('the dashboard', () => {
  const dashboard = JSON.parse(readFileSync(join(chartFolder, 'files', 'dashboard.json'), 'utf8')) as Dashboard;
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');

  test.each(panels.map((panel) => [panel.title, panel] as const))(
    'the dashboard panel %s queries existing metrics',
    (_title, { targets = [] }) => {
      expect(targets.length).toBeGreaterThan(0);
      for (const { expr } of targets) expect(judge(expr), expr).toEqual([]);
    },
  );

  test('the dashboard variables query existing labels', () => {
    const queries = dashboard.templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));
    const asked = queries.filter((query) => query.startsWith('label_values'));
    expect(asked).toHaveLength(2);
    for (const query of asked) expect(selectorsOf(query).flatMap(problemsOf), query).toEqual([]);
  });
});

describe('the monitoring of a release', () => {
  skipWithout(missingHelm);
  let objects: readonly Rendered[];
  let alerts: readonly Alert[];
  beforeAll(async () => {
    if (missingHelm !== undefined) return;
    objects = await renderFile('production-values.yaml');
    // The database of the chart has its own alerts, which a release with an external database does not have.
    const watched = await renderChart([
      '--set=prometheusRule.enabled=true',
      `--set=prometheusRule.runbookUrl=${pages}`,
    ]);
    const ofDatabase = alertsOf(watched).filter(({ expr }) => expr.includes('service="postgres"'));
    alerts = [...alertsOf(objects), ...ofDatabase];
  });

  test('alerts use existing metrics and select only the namespace of the release', () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { alert, expr } of alerts) {
      expect(judge(expr), alert).toEqual([]);
      for (const { matchers } of selectorsOf(expr)) {
        expect(matchers, alert).toContainEqual(['namespace', '=', 'safety']);
        expect(
          matchers.map(([label]) => label),
          alert,
        ).toContain('service');
      }
    }
  });

  test('annotations of alerts describe the problem with labels that the expression keeps', () => {
    for (const { alert, expr, labels, annotations } of alerts) {
      expect(['warning', 'critical'], alert).toContain(labels['severity']);
      const words = `${annotations['summary']} ${annotations['description']}`;
      expect(words.length, alert).toBeGreaterThan(60);
      const named = [...words.matchAll(/\{\{ \$labels\.(\w+) \}\}/g)].map(([, label]) => label ?? '');
      expect(
        named.filter((label) => !groupsOf(expr).includes(label)),
        alert,
      ).toEqual([]);
      expect(words.replaceAll(/\{\{ \$labels\.\w+ \}\}/g, ''), alert).not.toMatch(/[{}]/);
    }
  });

  test('each service that verifies tokens of issuers has an alert for keys that cannot be fetched', () => {
    const suffix = '_issuer_keys_unavailable_total';
    const exported = [...services.values()].flatMap(({ names }) => [...names].filter((name) => name.endsWith(suffix)));
    expect(exported.length).toBeGreaterThan(3);
    const alert = alerts.find(({ alert }) => alert === 'PortcullisIssuerKeysAway');
    expect(
      selectorsOf(alert?.expr ?? '')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(exported.toSorted());
  });

  test('the alert for refused calls of agents counts every failure that no caller causes, and its runbook has each', () => {
    const alert = alerts.find(({ alert }) => alert === 'PortcullisAgentCallsRefused');
    const [selector] = selectorsOf(alert?.expr ?? '');
    const counted = selector?.matchers.find(([label]) => label === 'code')?.[2].split('|') ?? [];
    // A run may take longer than its time, and replicas end at each rollout.
    const usual = ['deadline_exceeded', 'shutting_down'];
    const failures = Object.entries(agentGatewayErrors).flatMap(([code, { status }]) => (status >= 500 ? [code] : []));
    expect(counted.toSorted()).toEqual(failures.filter((code) => !usual.includes(code)).toSorted());
    const page = readFileSync(join(root, alert?.annotations['runbook'] ?? ''), 'utf8');
    expect(counted.filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([]);
  });

  test('each service with a database has an alert for a database that does not answer it', async () => {
    const suffix = '_database_answers';
    const exported = [...services.values()].flatMap(({ names }) => [...names].filter((name) => name.endsWith(suffix)));
    expect(exported.length).toBeGreaterThan(3);
    const measuredBy = (found: readonly Alert[]) => {
      const alert = found.find((one) => one.alert === 'PortcullisDatabaseAway');
      return selectorsOf(alert?.expr ?? '').map(({ name }) => name);
    };
    expect(measuredBy(alerts).toSorted()).toEqual(exported.toSorted());
    const withoutManagement = ['--set=prometheusRule.enabled=true', '--set=management.enabled=false'];
    const withRetrieval = await renderChart([...withoutManagement, '--set=retrieval.enabled=true']);
    expect(measuredBy(alertsOf(withRetrieval))).toHaveLength(exported.length);
    expect(measuredBy(alertsOf(await renderChart(withoutManagement)))).toEqual([]);
  });

  test.each([
    ['PortcullisAgentNotReady', 'portcullis_operator_agent_versions_not_ready'],
    ['PortcullisEnvironmentFileRefused', 'portcullis_environment_files_valid'],
  ])('the alert %s needs no series of a pod that cannot start: the operator measures %s', (name, metric) => {
    const alert = alerts.find((one) => one.alert === name);
    expect(selectorsOf(alert?.expr ?? '')).toEqual([
      expect.objectContaining({ name: metric, matchers: expect.arrayContaining([['service', '=', 'operator']]) }),
    ]);
  });

  test('every alert has a runbook, and every runbook an alert', () => {
    const written = alerts.map(({ annotations }) => annotations['runbook'] ?? '');
    for (const [index, page] of written.entries()) {
      expect(existsSync(join(root, page)), page).toBe(true);
      expect(readFileSync(join(root, page), 'utf8')).toContain(`# ${alerts[index]?.alert}\n`);
      const { runbook_url: url } = alerts[index]?.annotations ?? {};
      expect(url).toBe(page.replace('docs/runbooks', pages));
    }
    const files = readdirSync(join(root, 'docs', 'runbooks')).filter((name) => name !== 'README.md');
    expect(files.map((name) => `docs/runbooks/${name}`).toSorted()).toEqual([...written, ...named].toSorted());
  });

  test('monitors select existing Services and pods, and scrape runtimes with their token', () => {
    const [monitor] = ofKind(objects, 'ServiceMonitor') as readonly (Rendered & MonitorSpec)[];
    const { selector, endpoints } = monitor!.spec;
    const chosen = ofKind(objects, 'Service').filter(({ metadata }) =>
      Object.entries(selector.matchLabels).every(([key, value]) => metadata.labels?.[key] === value),
    );
    expect(chosen.map(({ metadata }) => metadata.name)).toEqual([
      'guardrails-portcullis-catalogue-admin',
      'guardrails-portcullis-catalogue-worker-admin',
      'guardrails-portcullis-console-admin',
      'guardrails-portcullis-gateway-admin',
      'guardrails-portcullis-management-admin',
      'guardrails-portcullis-memory-admin',
      'guardrails-portcullis-memory-worker-admin',
      'guardrails-portcullis-operator',
      'guardrails-portcullis-retrieval-admin',
      'guardrails-portcullis-retrieval-worker-admin',
    ]);
    for (const { spec } of chosen as unknown as { spec: { ports: { name: string }[] } }[]) {
      expect(spec.ports.map(({ name }) => name)).toContain(endpoints[0]?.port);
    }
    const [agents, runtimes] = ofKind(objects, 'PodMonitor');
    expect(agents?.['spec']).toMatchObject({
      selector: { matchLabels: { 'app.kubernetes.io/name': 'portcullis-agent' } },
      podMetricsEndpoints: [{ port: 'admin', path: '/metrics' }],
    });
    expect(runtimes?.['spec']).toMatchObject({
      selector: { matchLabels: { 'app.kubernetes.io/name': 'portcullis-runtime' } },
      podMetricsEndpoints: [{ port: 'http', authorization: { credentials: { name: 'runtime-token', key: 'token' } } }],
    });
  });

  test('the storage alert compares the database with the file system of its claim, whatever size the values name', async () => {
    const ofClaim = async (size: string) => {
      const args = ['--set=prometheusRule.enabled=true', `--set=postgresql.storage.size=${size}`];
      return alertsOf(await renderChart(args)).find(({ alert }) => alert === 'PortcullisDatabaseFilling');
    };
    const alert = await ofClaim('4Gi');
    expect(new Set(selectorsOf(alert?.expr ?? '').map(({ name }) => name))).toEqual(
      new Set(['portcullis_postgres_database_bytes', 'portcullis_postgres_storage_available_bytes']),
    );
    expect(Number(alert?.expr.split('>').at(-1))).toBe(0.6);
    expect(await ofClaim('2Ti')).toEqual(alert);
  });

  test('without a claim the storage alert fires when the database uses more than 60 % of its storage', async () => {
    const bound = async (size: string): Promise<number> => {
      const sizes = ['--set=postgresql.persistence=none', `--set=postgresql.storage.size=${size}`];
      const rendered = await renderChart(['--set=prometheusRule.enabled=true', ...sizes]);
      const found = alertsOf(rendered).find(({ alert }) => alert === 'PortcullisDatabaseFilling');
      return Number(found?.expr.split('>').at(-1));
    };
    expect(await bound('4Gi')).toBe(Math.floor(0.6 * 4 * 2 ** 30));
    expect(await bound('500M')).toBe(300_000_000);
    expect(await bound('2Ti')).toBe(Math.floor(0.6 * 2 * 2 ** 40));
  });

  test('the dashboard is deployed unchanged, and monitoring objects only when enabled', async () => {
    const map = ofKind(objects, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-dashboard'));
    const text = (map as unknown as { readonly data: Readonly<Record<string, string>> }).data['portcullis.json'];
    expect(JSON.parse(text ?? '')).toEqual(
      JSON.parse(readFileSync(join(chartFolder, 'files', 'dashboard.json'), 'utf8')),
    );
    expect(map?.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    const plain = await renderFile('default-values.yaml');
    expect(ofKind(plain, 'ServiceMonitor', 'PodMonitor', 'PrometheusRule')).toEqual([]);
    expect(plain.some(({ metadata }) => metadata.name.endsWith('-dashboard'))).toBe(false);
  });
});
