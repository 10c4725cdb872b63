import type { Metrics } from '#kit/metrics/metrics';
import { type AuditReceiverName, auditReceiverNames } from './ports.ts';

export type AuditExportMetrics = {
  stored(receiver: AuditReceiverName, entries: number): void;
  failed(receiver: AuditReceiverName): void;
  /** Age of the oldest entry that a receiver has not stored, seconds. */
  lag(receiver: AuditReceiverName, seconds: number): void;
};

/** Metrics of the export of the audit log, of every service that writes it. */
export function createAuditExportMetrics(registry: Metrics): AuditExportMetrics {
  const labels = { receiver: auditReceiverNames };
  const lag = registry.gauge({
    name: 'portcullis_audit_export_lag_seconds',
    help: 'Age of the oldest entry of the audit log that a receiver of the export has not confirmed; 0 if it has all.',
    labels,
  });
  const stored = registry.counter({
    name: 'portcullis_audit_exported_entries_total',
    help: 'Entries of the audit log that a receiver of the export confirmed.',
    labels,
  });
  const failures = registry.counter({
    name: 'portcullis_audit_export_failures_total',
    help: 'Deliveries of the audit log that failed and are repeated.',
    labels,
  });
  return {
    stored: (receiver, entries) => stored.add({ receiver }, entries),
    failed: (receiver) => failures.add({ receiver }),
    lag: (receiver, seconds) => lag.set({ receiver }, seconds),
  };
}
