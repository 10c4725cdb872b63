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
import { createAgentCounts } from '../../operator/composition/agent-counts.ts';
import { createBindingCounts } from '../../operator/composition/binding-counts.ts';
import { createFilesGauge } from '../../operator/environment/watch-environment.ts';
import { createManagementMetrics } from '../../operator/management/monitoring/metrics.ts';
import { createReconcileMeter } from '../../operator/reconcile/reconcile-metrics.ts';
import { createRuntimeMeters } from '../../runtime/metrics.ts';
import { code, page, table } from '../reference/markdown.ts';

function runtimeRows(): readonly MetricRow[] {
  const metrics = createMetrics({ service: 'runtime' });
  createRuntimeMeters(metrics);
  return metrics.describeMetrics();
}

/** All metrics, including those that a gateway has only if it serves agents. */
function gatewayRows(): readonly MetricRow[] {
  const { registry } = createGatewayMetrics();
  createAgentCallMetrics(registry);
  createConnectionMetrics(registry);
  return registry.describeMetrics();
}

function operatorRows(): readonly MetricRow[] {
  const metrics = createMetrics({ service: 'operator' });
  createReconcileMeter(metrics);
  createElectionMeter(metrics, 'portcullis-operator');
  createBindingCounts(metrics);
  createAgentCounts(metrics);
  createFilesGauge(metrics);
  return metrics.describeMetrics();
}

function part(title: string, rows: readonly MetricRow[]): readonly string[] {
  const cells = rows.map(({ name, type, help, labels }) => [
    code(name),
    type,
    labels.map((label) => `${code(label.name)}: ${label.values}`).join('; '),
    help,
  ]);
  return [`## ${title}`, table(['Metric', 'Type', 'Labels', 'Meaning'], cells)];
}

/** The metrics of each process, without the default metrics of Node. */
export function generate(): ReadonlyMap<string, string> {
  const parts = [
    ...part('Runtime', runtimeRows()),
    ...part('Gateway', gatewayRows()),
    ...part('Operator', operatorRows()),
    ...part('Management', createManagementMetrics().registry.describeMetrics()),
    ...part('Retrieval', createRetrievalMetrics().registry.describeMetrics()),
    ...part('Memory', createMemoryMetrics().registry.describeMetrics()),
    ...part('Catalogue', createCatalogueMetrics().registry.describeMetrics()),
    ...part('Console', createConsoleMetrics().registry.describeMetrics()),
    ...part('Agent', createAgentMetrics().registry.describeMetrics()),
    ...part('Database', createPostgresMetrics().registry.describeMetrics()),
  ];
  const introduction =
    'Every process answers `GET /metrics` in the text format of Prometheus, the runtime with its service token. Each ' +
    'series carries the label `service`, and the default metrics of the Node.js client are added.';
  return new Map([['docs/reference/metrics.md', page('Metrics', introduction, parts)]]);
}
