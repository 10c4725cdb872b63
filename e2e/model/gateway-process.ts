import { randomUUID } from 'node:crypto';
import type { ProbeOutcome } from '#checks/client';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import { kubernetesReports } from '../../dataplane/gateway/reports/adapters/kubernetes/report-sink.ts';
import { buildReport } from '../../dataplane/gateway/reports/build-report.ts';
import { writeReports } from '../../dataplane/gateway/reports/write-reports.ts';
import { kubernetesRoutes } from '../../dataplane/gateway/routes/adapters/kubernetes/route-source.ts';
import { followRoutes } from '../../dataplane/gateway/routes/follow-routes.ts';
import { createRoutePins, type RoutePins } from '../../dataplane/gateway/routes/pin-routes.ts';
import { RouteTable } from '../../dataplane/gateway/routes/route-table.ts';
import { loadedFirst, watchReadiness } from '../../dataplane/gateway/routes/watch-readiness.ts';
import { modelNamespace } from './memory-api.ts';
import type { Nodes } from './nodes.ts';
import { quietLogger } from './operator-process.ts';
import { createUnreliableClient, type Network } from './unreliable-client.ts';
import type { Life } from './virtual-time.ts';

/** Events of a simulated replica that the observer of a run receives. */
export type TrafficObserver = {
  /** The replica admitted a request under this route. */
  admitted(replica: string, route: GatewayRouteSpec): void;
  /** The replica requests a check, at the beginning and at the end of a request. */
  judged(replica: string, route: GatewayRouteSpec): void;
  /** The replica serves the newest version of the route. */
  took(replica: string, generationId: string): void;
};

export type GatewayProcess = {
  readonly name: string;
  readonly life: Life;
  readonly bootId: string;
  readonly startedAt: number;
  /** Generations that the replica serves, by alias. */
  serving(): ReadonlyMap<string, GatewayRouteSpec>;
};

/** Replicas that use a workload although their probes of the route failed. */
export type Contradictions = Map<string, { readonly until: number }>;

type GatewayOptions = {
  readonly nodes: Nodes;
  readonly contradictions: Contradictions;
  readonly aliases: readonly string[];
  readonly observer: TrafficObserver;
};

/** Longest duration of a simulated request. */
export const longestRequestMs = 20_000;

/** The parts of a gateway that hold routes, composed as in dataplane/gateway/service.ts, and simulated requests. */
export function startGatewayProcess(network: Network, name: string, options: GatewayOptions): GatewayProcess {
  const { time } = network;
  const { clock } = time;
  const { nodes, contradictions, observer } = options;
  const life = time.startLife(name);
  const bootId = randomUUID();
  const table = new RouteTable(modelNamespace);

  async function probe(target: { readonly addresses: readonly string[] }): Promise<ProbeOutcome> {
    await time.delay(5 + 20 * time.random());
    await life.awake();
    const workload = URL.parse(target.addresses[0] ?? '')?.hostname.split('.')[0] ?? '';
    if (!nodes.serves(workload)) return { ok: false, code: 'network', message: 'no answer' };
    if ((contradictions.get(name)?.until ?? 0) > clock.now()) {
      return { ok: false, code: 'policy_unavailable', message: 'another digest' };
    }
    return { ok: true };
  }

  function boot(): void {
    const client = createUnreliableClient(network, life);
    const pins = createRoutePins(table, () => reports.changed(false));
    const readiness = watchReadiness(loadedFirst(table, undefined), () => reports.changed(false));
    const reports = writeReports({
      sink: kubernetesReports(client, { replica: name }),
      logger: quietLogger,
      clock,
      build: () =>
        buildReport({
          gateway: 'default',
          bootId,
          ready: readiness.mayServe(),
          appliedThrough: routes.throughVersion(),
          state: table.state(),
          inUse: pins.inUse(),
          providers: [],
        }),
    });
    const routes = followRoutes({
      gateway: 'default',
      table,
      openSource: kubernetesRoutes(client, quietLogger),
      checks: { probe },
      logger: quietLogger,
      clock,
      onChange: (seen) => {
        for (const { spec } of table.state().taken) observer.took(name, spec.generationId);
        readiness.look();
        reports.changed(seen);
      },
    });
    void reports.readyWritten.then(() => serveAll(pins));
  }

  function serveAll(pins: RoutePins): void {
    for (const alias of options.aliases) void serve(pins, alias);
  }

  /** Serves requests for one alias, sequential and concurrent ones. */
  async function serve(pins: RoutePins, alias: string): Promise<void> {
    while (true) {
      await time.delay(100 + 2_000 * time.random());
      await life.awake();
      const admission = pins.admit(alias);
      if (admission.kind === 'pinned') void request(admission.pin);
    }
  }

  async function request(pin: Disposable & { readonly route: { readonly spec: GatewayRouteSpec } }): Promise<void> {
    using held = pin;
    const { spec } = held.route;
    observer.admitted(name, spec);
    observer.judged(name, spec);
    await time.delay(time.random() < 0.8 ? 500 * time.random() : longestRequestMs * time.random());
    await life.awake();
    observer.judged(name, spec);
  }

  time.runAs(life, boot);
  return {
    name,
    life,
    bootId,
    startedAt: clock.now(),
    serving: () => new Map(table.state().taken.map(({ spec }) => [spec.alias, spec])),
  };
}
