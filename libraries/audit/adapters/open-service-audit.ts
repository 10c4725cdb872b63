import { v7 as uuid } from 'uuid';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { Database } from '#sql/connect';
import type { AuditExport } from '../audit-settings.ts';
import type { AuditExportMetrics } from '../export-metrics.ts';
import type { AuditLog } from '../ports.ts';
import { startRetention } from '../start-retention.ts';
import { type OpenedAuditExport, openAuditExport } from './open-audit-export.ts';
import { openPostgresAudit } from './postgres/postgres-audit.ts';

/**
 * Opens the audit log of a service, and removes and exports its entries until `parts` is disposed.
 * @throws TokenFileError when a secret of a receiver cannot be read
 */
export async function openServiceAudit(
  { auditDays, auditExport }: { readonly auditDays: number; readonly auditExport: AuditExport },
  parts: AsyncDisposableStack,
  options: {
    /** Name of the service, which is also the name of its chain of entries. */
    readonly chain: string;
    readonly database: Database;
    readonly metrics: AuditExportMetrics;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): Promise<{ readonly audit: AuditLog; readonly exported: OpenedAuditExport }> {
  const { chain, database, clock, logger } = options;
  const audit = await openPostgresAudit(database, chain);
  parts.use(startRetention(audit, { days: auditDays, clock, logger }));
  const exported = parts.use(openAuditExport(auditExport, { ...options, holder: uuid() }));
  return { audit, exported };
}
