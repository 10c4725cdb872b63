import type { GatewayReportSpec } from '#resources/gateway-report';

/**
 * Stores the report of a replica. `write` creates or replaces it; it rejects when the result is not certain, and may then
 * be called again with a newer report. Calls never overlap.
 */
export type ReportSink = { write(report: GatewayReportSpec): Promise<void> };
