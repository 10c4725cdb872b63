import type { ListenAddress } from '#kit/env/service-settings';
import type { LogLevel } from '#kit/log/logger';

type Address = { readonly host: string; readonly port: number };

export type ConsoleConfig = {
  readonly listen: ListenAddress;
  readonly adminListen: Address;
  /** The origin in browsers; undefined for the listening address. */
  readonly origin: string | undefined;
  readonly oidc: {
    readonly issuer: URL;
    readonly clientId: string;
    readonly clientSecretFile: string | undefined;
    readonly scope: string;
    readonly resource: string | undefined;
  };
  readonly services: {
    readonly management: URL;
    readonly retrieval: URL | undefined;
    readonly memory: URL | undefined;
    readonly catalogue: URL | undefined;
    readonly gateway: URL | undefined;
  };
  readonly tenant: string;
  readonly identity: 'production' | 'development';
  /** Whether the access tokens of persons have an act chain, which retrieval and memory require in production. */
  readonly actChain: boolean;
  /** Persons of development mode; empty in production. */
  readonly persons: readonly string[];
  readonly logLevel: LogLevel;
};

/**
 * The services with tenants that accept calls of persons; undefined for a service that is absent, or that refuses every
 * token.
 */
export function servicesForPersons({
  identity,
  actChain,
  services: { retrieval, memory },
}: Pick<ConsoleConfig, 'identity' | 'actChain' | 'services'>): Pick<ConsoleConfig['services'], 'retrieval' | 'memory'> {
  if (identity === 'development' || actChain) return { retrieval, memory };
  return { retrieval: undefined, memory: undefined };
}
