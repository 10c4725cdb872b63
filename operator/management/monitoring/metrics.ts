import { createRequestMetrics, type RequestMetrics } from '#api/request-metrics';
import { type AuditExportMetrics, createAuditExportMetrics } from '#audit/export-metrics';
import { type ManagementErrorCode, managementErrors } from '#contracts/management-errors';
import { maxIssuers } from '#identity/issuers-file';
import { createMetrics, type Metrics } from '#kit/metrics/metrics';
import { type ServedOperation, servedOperationNames } from '../http/served-table.ts';
import { type PolicyQuotaName, policyQuotaNames } from '../policies/quotas.ts';

const codes = Object.keys(managementErrors) as ManagementErrorCode[];

export type ManagementMetrics = RequestMetrics<ServedOperation, ManagementErrorCode> & {
  readonly registry: Metrics;
  readonly auditExport: AuditExportMetrics;
  /** Time since the least recent contact of a watch with its server, seconds. */
  watchSilence(seconds: number): void;
  /** The emergency credential was used. */
  breakGlassUsed(): void;
  /** The used part of each quota, 0 to 1. */
  quotasUsed(used: Readonly<Record<PolicyQuotaName, number>>): void;
  /** Whether the database answered the last readiness check. */
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
    databaseAnswers: (answers) => database.set({}, answers ? 1 : 0),
  };
}
