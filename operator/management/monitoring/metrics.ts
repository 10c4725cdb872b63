import { createRequestMetrics, type RequestMetrics } from '#api/request-metrics';
import { type AuditExportMetrics, createAuditExportMetrics } from '#audit/export-metrics';
import { type ManagementErrorCode, managementErrors } from '#contracts/management-errors';
import { maxIssuers } from '#identity/issuers-file';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import type { ObservingFaults } from '../audit/repeat-look.ts';
import { type ServedOperation, servedOperationNames } from '../http/served-table.ts';
import { type PolicyQuotaName, policyQuotaNames } from '../policies/quotas.ts';

/**
 * The observers of the resources for the audit log: revisions, applications and deletions; Agents; settings of
 * ModelBindings.
 */
const observers = ['changes', 'agents', 'bindings'] as const;
type Observer = (typeof observers)[number];

const codes = Object.keys(managementErrors) as ManagementErrorCode[];

export type ManagementMetrics = RequestMetrics<ServedOperation, ManagementErrorCode> & {
  readonly registry: Metrics;
  readonly auditExport: AuditExportMetrics;
  /**
   * Receives the time since the last contact of a watch with its server, for the watch with the longest such time,
   * seconds.
   */
  watchSilence(seconds: number): void;
  /** The emergency credential was used. */
  breakGlassUsed(): void;
  /** The used part of each quota, 0 to 1. */
  quotasUsed(used: Readonly<Record<PolicyQuotaName, number>>): void;
  /** Counts the reasons that prevent the changes of one observer from being recorded in the audit log. */
  observingFaults(observer: Observer): ObservingFaults;
  /** Receives whether the database answered the last readiness check. */
  databaseAnswers(answers: boolean): void;
};

export function createManagementMetrics(): ManagementMetrics {
  const registry = createMetrics({ service: 'management' });
  const requests = createRequestMetrics(registry, {
    service: 'management',
    operations: servedOperationNames,
    codes,
    mostIssuers: maxIssuers,
    longSeconds: [20],
  });
  const silence = registry.gauge({
    name: 'portcullis_management_watch_silence_seconds',
    help: 'Time since the least recent contact of a resource watch with its server.',
    labels: {},
  });
  const quotas = registry.gauge({
    name: 'portcullis_management_quota_used_ratio',
    help: 'The used part of each quota of the installation: commands that would exceed 1 are refused.',
    labels: { quota: policyQuotaNames },
  });
  const database = registry.gauge({
    name: 'portcullis_management_database_answers',
    help: '1 if the database answered the last readiness check of this replica and lacks no table, else 0.',
    labels: {},
  });
  const emergencies = registry.counter({
    name: 'portcullis_management_break_glass_total',
    help: 'Requests with the emergency credential.',
    labels: {},
  });
  const looks = registry.counter({
    name: 'portcullis_management_observing_failures_total',
    help: 'Failed observations of the resources for the audit log. Each is repeated after a second.',
    labels: { observer: observers },
  });
  const failedSeconds = registry.counter({
    name: 'portcullis_management_observing_failed_seconds_total',
    help: 'Seconds that ended with a failed observation of the resources for the audit log, each counted from the previous observation.',
    labels: { observer: observers },
  });
  const unrecorded = registry.counter({
    name: 'portcullis_management_changes_not_recorded_total',
    help: 'Changes of resources that have no entry in the audit log because they are malformed.',
    labels: { observer: observers },
  });
  // Prometheus sees the first increase of a series only if the series existed before it.
  for (const observer of observers)
    for (const metric of [looks, failedSeconds, unrecorded]) metric.add({ observer }, 0);
  database.set({}, 1);
  return {
    registry,
    auditExport: createAuditExportMetrics(registry),
    ...requests,
    watchSilence: (value) => silence.set({}, value),
    breakGlassUsed: () => emergencies.add({}),
    quotasUsed(used) {
      for (const quota of policyQuotaNames) quotas.set({ quota }, used[quota]);
    },
    observingFaults: (observer) => ({
      lookFailed(seconds) {
        looks.add({ observer });
        failedSeconds.add({ observer }, seconds);
      },
      changeNotRecorded: () => unrecorded.add({ observer }),
    }),
    databaseAnswers: (answers) => database.set({}, answers ? 1 : 0),
  };
}
