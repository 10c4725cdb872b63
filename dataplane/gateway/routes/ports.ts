import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';

/** Receives the changes of routes, in their order. */
export type RouteListener = {
  /** The current route, or undefined when it was deleted. Must not throw. */
  onChange(name: string, current: Stored<GatewayRoute> | undefined): void;
};

/**
 * Watches the routes of a namespace, of all gateways. It survives failures of its server: the last known state holds
 * until the next change. The caller that opened it closes it.
 */
export type RouteSource = AsyncDisposable & {
  /** Resolves when the first complete list has been delivered. */
  readonly synced: Promise<void>;
  /** Every change up to this resource version has been delivered; "0" before the first list. */
  throughVersion(): string;
};

export type OpenRouteSource = (listener: RouteListener) => RouteSource;
