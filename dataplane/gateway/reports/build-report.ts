import type { GatewayReportSpec } from '#resources/gateway-report';
import type { UsedWorkload } from '../routes/pin-routes.ts';
import { routeFormats } from '../routes/read-route.ts';
import type { TableState } from '../routes/route-table.ts';

type ReportFacts = {
  readonly gateway: string;
  readonly bootId: string;
  readonly ready: boolean;
  readonly appliedThrough: string;
  readonly state: TableState;
  readonly inUse: readonly UsedWorkload[];
  /** The state of agent routes; undefined in a replica that does not serve agents. */
  readonly agents?: GatewayReportSpec['agents'];
  readonly providers: readonly NonNullable<GatewayReportSpec['providers']>[number][];
};

/** Builds the report of a gateway replica; equal input gives an equal report. */
export function buildReport(facts: ReportFacts): GatewayReportSpec {
  const byRoute = (one: { readonly route: string }, other: { readonly route: string }): number =>
    one.route < other.route ? -1 : 1;
  return {
    gateway: facts.gateway,
    bootId: facts.bootId,
    ready: facts.ready,
    formats: [...routeFormats],
    appliedThrough: facts.appliedThrough,
    pending: facts.state.pending.toSorted(byRoute),
    rejected: facts.state.rejected.toSorted(byRoute),
    inUse: facts.inUse.map((used) => ({ ...used })),
    ...(facts.agents === undefined ? {} : { agents: facts.agents }),
    ...(facts.providers.length === 0 ? {} : { providers: facts.providers.map((state) => ({ ...state })) }),
  };
}

/**
 * Whether a report differs enough to be written. `appliedThrough` also grows when routes of other gateways change; a
 * change of `appliedThrough` alone is written only after a change of a route of this gateway.
 */
export function isNews(
  next: GatewayReportSpec,
  written: GatewayReportSpec | undefined,
  routeChanged: boolean,
): boolean {
  if (written === undefined) return true;
  if (routeChanged) return JSON.stringify(next) !== JSON.stringify(written);
  const { appliedThrough } = written;
  const agents =
    next.agents === undefined || written.agents === undefined
      ? next.agents
      : { ...next.agents, appliedThrough: written.agents.appliedThrough };
  const same = { ...next, appliedThrough, ...(agents === undefined ? {} : { agents }) };
  return JSON.stringify(same) !== JSON.stringify(written);
}
