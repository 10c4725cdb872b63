import { isInside } from '../boundaries/modules.ts';
import type { Tree } from '../boundaries/tree.ts';
import { isPure } from './is-pure.ts';

/** Suites of the quick check (`npm test`). */
export const quickSuites = ['boundaries', 'pure', 'servers', 'unit', 'conformance', 'platform'] as const;
/** Suites that only the full check (`npm run test:full`) adds. */
export const fullSuites = ['slow', 'constellation'] as const;
export type SuiteName = (typeof quickSuites)[number] | (typeof fullSuites)[number];

/** Tests next to their subject that start databases or whole platforms, wait for leases, or run long searches. */
export const slowFiles: readonly string[] = [
  'cli/activity-commands.test.ts',
  'cli/agent-commands.test.ts',
  'cli/audit-commands.test.ts',
  'cli/change-verbs.test.ts',
  'cli/confirm-on-terminal.test.ts',
  'cli/frozen-processes.test.ts',
  'cli/help-examples.test.ts',
  'cli/management-commands.test.ts',
  'cli/policy-commands.test.ts',
  'cli/rollback.test.ts',
  'cli/runtime-command.test.ts',
  'cli/typed-mistakes.test.ts',
  'cli/up.test.ts',
  'cli/verbs.test.ts',
  'dataplane/agents/http/guarded-runs.test.ts',
  'dataplane/agents/http/long-texts.test.ts',
  'dataplane/agents/http/moved-policy.test.ts',
  'dataplane/catalogue/events/forget-events.test.ts',
  'dataplane/catalogue/events/relay-events.test.ts',
  'dataplane/catalogue/feed',
  'dataplane/catalogue/http/errors.test.ts',
  'dataplane/catalogue/http/late-dependencies.test.ts',
  'dataplane/catalogue/http/pages.test.ts',
  'dataplane/catalogue/search/embed-agents.test.ts',
  'dataplane/catalogue/search/search-agents.test.ts',
  'dataplane/gateway/agents/caller-share.test.ts',
  'dataplane/gateway/agents/held-answers.test.ts',
  'dataplane/gateway/agents/judged-long-texts.test.ts',
  'dataplane/gateway/agents/silent-ends.test.ts',
  'dataplane/gateway/http/greedy-clients.test.ts',
  'dataplane/gateway/http/provider-state.test.ts',
  'dataplane/gateway/service.test.ts',
  'dataplane/memory/events/extract-by-model.test.ts',
  'dataplane/memory/events/statement-order.test.ts',
  'dataplane/memory/events/update-by-add.test.ts',
  'dataplane/memory/extraction/settle-facts.test.ts',
  'dataplane/memory/facts/maintain-memories.test.ts',
  'dataplane/memory/facts/text-left.test.ts',
  'dataplane/memory/http',
  'dataplane/memory/people',
  'dataplane/memory/search/changed-profile.test.ts',
  'dataplane/memory/search/take-fitting.test.ts',
  'dataplane/postgres/cluster.test.ts',
  'dataplane/postgres/container.test.ts',
  'dataplane/postgres/service.test.ts',
  'dataplane/retrieval/access',
  'dataplane/retrieval/collections/remove-contents.test.ts',
  'dataplane/retrieval/http',
  'dataplane/retrieval/index',
  'dataplane/retrieval/ingest/commit/long-headings.test.ts',
  'dataplane/retrieval/ingest/reindex',
  'dataplane/retrieval/ingest/role',
  'dataplane/retrieval/ingest/worker/content-limits.test.ts',
  'hack/cluster/image/portcullis-image.test.ts',
  'hack/prerequisites.test.ts',
  'libraries/flow/engine/mutated-flows.test.ts',
  'libraries/kube/election/failover.test.ts',
  'libraries/queue/adapters/postgres/postgres-queue.test.ts',
  'libraries/sql/await-database.test.ts',
  'libraries/sql/connect.test.ts',
  'libraries/sql/crash.test.ts',
  'libraries/sql/listen.test.ts',
  'libraries/sql/watch-tables.test.ts',
  'operator/bundles/run-judge.test.ts',
  'operator/folder-api/crash.test.ts',
  'operator/folder-api/reflector-chaos.test.ts',
  'operator/folder-api/watched-folder.test.ts',
  'operator/main.test.ts',
  'operator/management/audit/observe-agents.test.ts',
  'operator/management/audit/observe-bindings.test.ts',
  'operator/management/audit/record-observed.test.ts',
  'operator/scenarios/agent-capability.test.ts',
  'operator/scenarios/agent-crash.test.ts',
  'operator/scenarios/agent-version.test.ts',
  'operator/scenarios/agent.test.ts',
  'operator/scenarios/application.test.ts',
  'operator/scenarios/binding-life.test.ts',
  'operator/scenarios/crash.test.ts',
  'operator/scenarios/exchanged-aliases.test.ts',
  'operator/scenarios/interleaving.test.ts',
  'operator/scenarios/kept-policy.test.ts',
  'operator/scenarios/live-environment.test.ts',
  'operator/scenarios/missing-references.test.ts',
  'operator/scenarios/policy-warnings.test.ts',
  'operator/scenarios/readiness.test.ts',
  'operator/scenarios/refused-application.test.ts',
  'operator/scenarios/rejected-route.test.ts',
  'operator/scenarios/replaced-token.test.ts',
  'operator/scenarios/restart.test.ts',
  'operator/scenarios/returning-provider.test.ts',
  'operator/scenarios/served-policy.test.ts',
  'operator/scenarios/tampered-route.test.ts',
  'operator/workloads/adapters/processes/processes.test.ts',
  'runtime/judgement/fold-stops.test.ts',
  'runtime/process.test.ts',
];

/**
 * One real platform for each capability; a machine without the Kubernetes programs skips the files that need an API
 * server.
 */
export const platformFiles: readonly string[] = [
  // The standalone platform and its command line.
  'cli/platform-commands.test.ts',
  // A gateway replica whose runtime and provider fail.
  'e2e/scenarios/fail-closed/runtime-process.test.ts',
  // The management API, on a folder and on an API server.
  'e2e/management/thin-path.test.ts',
  // Client and operator on an API server.
  'e2e/kube/resources.test.ts',
  'e2e/workloads/operator.test.ts',
  // The kubectl plugin.
  'e2e/kubectl/changed-definitions.test.ts',
  // Relations in OpenFGA.
  'e2e/relations/administrators.test.ts',
  // The chart as Helm renders it.
  'e2e/chart/objects.test.ts',
  // Programs and servers that tests share.
  'e2e/support',
];

/**
 * Files that run for 30 seconds or more, the longest first: without recorded durations only the sizes of files are
 * known.
 */
export const longFiles: readonly string[] = [
  'e2e/console/people.test.ts',
  'e2e/documents/documents.test.ts',
  'e2e/kubectl/plugin.test.ts',
  'cli/up.test.ts',
  'e2e/documents/shell-blocks.test.ts',
  'e2e/documents/helm-commands.test.ts',
  'cli/management-commands.test.ts',
  'e2e/scenarios/life/life.test.ts',
  'e2e/chart/release.test.ts',
  'e2e/kubectl/backup-restore.test.ts',
  'cli/help-examples.test.ts',
  'operator/scenarios/agent-crash.test.ts',
  'e2e/chart/foreign/open-foreign.test.ts',
  'e2e/model/model.test.ts',
  'e2e/chart/values.test.ts',
  'e2e/retrieval/opensearch-service.test.ts',
  'e2e/console/hostile.test.ts',
  'e2e/memory/corrected-facts.test.ts',
  'e2e/management/recovery.test.ts',
  'dataplane/postgres/service.test.ts',
  'cli/frozen-processes.test.ts',
  'dataplane/postgres/cluster.test.ts',
  'cli/platform-commands.test.ts',
  'e2e/kube/watch-faults.test.ts',
  'e2e/chart/liveness.test.ts',
  'e2e/console/every-field.test.ts',
  'e2e/management/restore.test.ts',
  'e2e/console/policies.test.ts',
  'e2e/broken-setups/standalone.test.ts',
  'e2e/retrieval/opensearch-server.test.ts',
  'e2e/readme/readme.test.ts',
  'e2e/broken-setups/cluster.test.ts',
  'e2e/console/overview.test.ts',
  'cli/agent-commands.test.ts',
  'e2e/management/policy-life.test.ts',
  'dataplane/postgres/container.test.ts',
  'e2e/management/policy-form.test.ts',
  'e2e/management/route-matrix.test.ts',
  'operator/folder-api/crash.test.ts',
  'dataplane/gateway/agents/silent-ends.test.ts',
  'e2e/management/access.test.ts',
  'e2e/management/bindings.test.ts',
  'e2e/scenarios/life/external-database.test.ts',
  'e2e/chart/pods.test.ts',
  'e2e/management/traffic.test.ts',
  'cli/verbs.test.ts',
  'operator/scenarios/agent.test.ts',
  'e2e/workloads/operator.test.ts',
  'e2e/scenarios/cutover/cutover.test.ts',
  'e2e/retrieval/opensearch-index.test.ts',
  'e2e/retrieval/opensearch-long-groups.test.ts',
  'runtime/judgement/fold-stops.test.ts',
  'operator/scenarios/agent-version.test.ts',
  'e2e/agents/flow-run-commands.test.ts',
  'dataplane/gateway/service.test.ts',
  'e2e/retrieval/opensearch-faults.test.ts',
  'e2e/scenarios/applications/replicas.test.ts',
  'e2e/console/russian.test.ts',
  'e2e/retrieval/standalone-handbook.test.ts',
  'e2e/chart/process-rights.test.ts',
  'e2e/crds/limits.test.ts',
  'operator/workloads/adapters/processes/processes.test.ts',
  'e2e/crds/presentation.test.ts',
  'cli/activity-commands.test.ts',
  'runtime/process.test.ts',
  'e2e/management/revocation-kills.test.ts',
  'dataplane/retrieval/http/quota.test.ts',
  'e2e/retrieval/document-commands.test.ts',
  'e2e/workloads/crash.test.ts',
  'e2e/management/kubectl.test.ts',
  'cli/change-verbs.test.ts',
  'operator/scenarios/application.test.ts',
  'e2e/broken-setups/providers.test.ts',
  'operator/scenarios/interleaving.test.ts',
];

/** A suite of a port's obligations is imported from `testing/<port>-suite.ts`. */
const conformance = /(^|\/)testing\/[a-z-]+-suite(\.ts)?$/;

function suiteOf(tree: Tree, path: string): SuiteName {
  const isIn = (list: readonly string[]): boolean => list.some((listed) => isInside(path, listed));
  if (isIn(slowFiles)) return 'slow';
  if (path.startsWith('hack/') || path.startsWith('e2e/requirements/')) return 'boundaries';
  if (isIn(platformFiles)) return 'platform';
  if (path.startsWith('e2e/')) return 'constellation';
  if (tree.sources.get(path)?.imports.some(({ specifier }) => conformance.test(specifier)) === true) {
    return 'conformance';
  }
  if (isPure(tree, path, false)) return 'pure';
  return isPure(tree, path, true) ? 'servers' : 'unit';
}

/** All test files by the suite to which they belong; each file is in exactly one suite. */
export function listSuites(tree: Tree): ReadonlyMap<SuiteName, readonly string[]> {
  const suites = new Map<SuiteName, string[]>([...quickSuites, ...fullSuites].map((name) => [name, []]));
  for (const path of tree.sources.keys()) {
    if (path.endsWith('.test.ts')) suites.get(suiteOf(tree, path))?.push(path);
  }
  return suites;
}
