import type { GatewayReportSpec } from '#resources/gateway-report';

/**
 * Where a replica writes its report. `write` makes the report exactly this, whatever it was and whether it was there;
 * it rejects when that is not certain, and then may be called again with a newer one. Calls never overlap.
 */
export type ReportSink = { write(report: GatewayReportSpec): Promise<void> };
