import type { AgentRoute } from '#resources/agent-route';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';

/** A resource that routes requests: to a model or to an agent. */
export type AnyRoute = GatewayRoute | AgentRoute;

/** Receives the changes of routes in the order in which the server committed them. */
export type RouteListener<R extends AnyRoute = GatewayRoute> = {
  /** Called with the current state of the route, or undefined when it was deleted. Must not throw. */
  onChange(name: string, current: Stored<R> | undefined): void;
};

/**
 * Watches all routes of one kind in a namespace, whatever their gateway. After a failure of the server, the last known
 * state stays in use until the next change. The caller that opened the source closes it.
 */
export type RouteSource = AsyncDisposable & {
  /** Resolves when the first complete list of routes has been delivered. */
  readonly synced: Promise<void>;
  /** The resource version up to which every change has been delivered; "0" before the first list. */
  throughVersion(): string;
};

export type OpenRouteSource<R extends AnyRoute = GatewayRoute> = (listener: RouteListener<R>) => RouteSource;
