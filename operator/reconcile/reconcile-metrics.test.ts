import { expect, test } from 'vitest';
import { createMetrics } from '#kit/metrics/metrics';
import { createElectionMeter } from '#kube/election/election-metrics';
import { controllerNames, createReconcileMeter } from './reconcile-metrics.ts';

function open() {
  const metrics = createMetrics({ service: 'operator' });
  const meter = createReconcileMeter(metrics);
  const election = createElectionMeter(metrics, 'portcullis-operator');
  const lines = async (name: string): Promise<readonly string[]> =>
    (await metrics.exposition()).split('\n').filter((line) => line.startsWith(name));
  return { metrics, meter, election, lines };
}

test('metric names and labels of the operator are those of controller-runtime and client-go, so that their dashboards work', () => {
  const { metrics } = open();
  const rows = metrics.describeMetrics().map(({ name, labels }) => `${name}{${labels.map((one) => one.name).join()}}`);
  expect(rows.toSorted()).toEqual([
    'controller_runtime_active_workers{controller}',
    'controller_runtime_max_concurrent_reconciles{controller}',
    'controller_runtime_reconcile_errors_total{controller}',
    'controller_runtime_reconcile_panics_total{controller}',
    'controller_runtime_reconcile_time_seconds{controller}',
    'controller_runtime_reconcile_timeouts_total{controller}',
    'controller_runtime_reconcile_total{controller,result}',
    'controller_runtime_terminal_reconcile_errors_total{controller}',
    'leader_election_master_status{name}',
    'leader_election_slowpath_total{name}',
    'rest_client_request_duration_seconds{verb,host}',
    'rest_client_requests_total{method,code,host}',
    'workqueue_adds_total{name,controller}',
    'workqueue_depth{name,controller}',
    'workqueue_longest_running_processor_seconds{name,controller}',
    'workqueue_queue_duration_seconds{name,controller}',
    'workqueue_retries_total{name,controller}',
    'workqueue_unfinished_work_seconds{name,controller}',
    'workqueue_work_duration_seconds{name,controller}',
  ]);
});

test('the operator exports every result of every controller from the start, as 0', async () => {
  const { lines } = open();
  const expected = controllerNames.flatMap((controller) =>
    ['success', 'error', 'requeue', 'requeue_after'].map(
      (result) =>
        `controller_runtime_reconcile_total{controller="${controller}",result="${result}",service="operator"} 0`,
    ),
  );
  expect((await lines('controller_runtime_reconcile_total')).toSorted()).toEqual(expected.toSorted());
  for (const name of ['reconcile_errors', 'terminal_reconcile_errors', 'reconcile_panics', 'reconcile_timeouts']) {
    expect(await lines(`controller_runtime_${name}_total{`)).toHaveLength(controllerNames.length);
  }
  expect(await lines('leader_election_master_status')).toEqual([
    'leader_election_master_status{name="portcullis-operator",service="operator"} 0',
  ]);
});

test('the operator counts passes, API requests and leadership', async () => {
  const { meter, election, lines } = open();
  meter.finished('modelbinding', 'error');
  meter.surprised('modelbinding');
  meter.measured('modelbinding', 0.2, 0.3);
  meter.requested({ method: 'GET', status: '200', host: 'api:443', seconds: 0.01 });
  election.leading(true);
  election.slowPath();
  const value = async (name: string) => (await lines(name)).filter((line) => !line.endsWith(' 0'));
  expect(await value('controller_runtime_reconcile_errors_total')).toHaveLength(1);
  expect(await value('controller_runtime_reconcile_panics_total')).toHaveLength(1);
  expect(await value('controller_runtime_reconcile_time_seconds_sum')).toEqual([
    expect.stringContaining('controller="modelbinding"'),
  ]);
  expect((await lines('rest_client_requests_total'))[0]).toBe(
    'rest_client_requests_total{method="GET",code="200",host="api:443",service="operator"} 1',
  );
  expect((await lines('leader_election_master_status'))[0]).toMatch(/ 1$/);
  expect((await lines('leader_election_slowpath_total'))[0]).toMatch(/ 1$/);
});
