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
  /** Persons of development mode; empty in production. */
  readonly persons: readonly string[];
  readonly logLevel: LogLevel;
};
