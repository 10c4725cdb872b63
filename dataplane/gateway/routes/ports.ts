import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';

/** What a source of routes tells, in the order in which it happened. */
export type RouteListener = {
  /** A route as it is now, or undefined when it is gone. Must not throw. */
  onChange(name: string, current: Stored<GatewayRoute> | undefined): void;
};

/**
 * Routes of a namespace, of whatever gateway, kept up to date. It outlives every failure of its server: what was told
 * stands until something else is told. Whoever opened it closes it.
 */
export type RouteSource = AsyncDisposable & {
  /** Resolves when every route that existed was told; never resolves before. */
  readonly synced: Promise<void>;
  /** Every change up to this resource version was told; "0" before the first list. */
  throughVersion(): string;
};

export type OpenRouteSource = (listener: RouteListener) => RouteSource;
