import { openTokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { Database } from '#sql/connect';
import type { AuditExport } from '../audit-settings.ts';
import { type ExportTimes, startExport } from '../export-entries.ts';
import type { AuditExportMetrics } from '../export-metrics.ts';
import type { AuditReceiver } from '../ports.ts';
import { createOtlpAuditReceiver } from './http/otlp-audit-receiver.ts';
import { createWebhookAuditReceiver } from './http/webhook-audit-receiver.ts';
import { createExportPosition } from './postgres/export-position.ts';

export type OpenedAuditExport = AsyncDisposable & {
  /** Measures the lag of the receivers; called before a scrape. Never rejects. */
  readonly measure: () => Promise<void>;
};

/**
 * Starts the export of the chain of a service to the configured receivers, next to the audit log in the same database.
 * @throws TokenFileError when a secret cannot be read at the start
 */
export function openAuditExport(
  config: AuditExport,
  options: {
    readonly database: Pick<Database, 'sql'>;
    readonly chain: string;
    /** Names this process. */
    readonly holder: string;
    readonly metrics: AuditExportMetrics;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly times?: Partial<ExportTimes> | undefined;
  },
): OpenedAuditExport {
  const { database, chain, holder, metrics, clock, logger, times = {} } = options;
  const started = receiversOf(config, clock).map((receiver) => {
    const { name } = receiver;
    const position = createExportPosition(database, { receiver: name, chain, holder });
    const onStored = (entries: number): void => metrics.stored(name, entries);
    const onFailed = (): void => metrics.failed(name);
    return { name, position, loop: startExport({ receiver, position, clock, logger, onStored, onFailed, times }) };
  });
  return {
    async measure() {
      for (const { name, position } of started) {
        // While the database is unavailable no entry is added, so that the last figure is still right.
        const oldest = await position.oldestWaiting().catch(() => null);
        if (oldest === null) continue;
        const ageMs = oldest === undefined ? 0 : clock.date().getTime() - Date.parse(oldest);
        metrics.lag(name, Math.max(0, ageMs / 1_000));
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map(({ loop }) => loop[Symbol.asyncDispose]()));
    },
  };
}

function receiversOf({ webhook, otlp }: AuditExport, { date }: Clock): readonly AuditReceiver[] {
  const token = otlp?.tokenFile === undefined ? undefined : openTokenFile(otlp.tokenFile);
  return [
    ...(webhook === undefined
      ? []
      : [createWebhookAuditReceiver(webhook.url, openTokenFile(webhook.secretFile), date)]),
    ...(otlp === undefined ? [] : [createOtlpAuditReceiver(otlp.url, token, date)]),
  ];
}
