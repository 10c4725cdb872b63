import type { DataDirectory } from '#contracts/data-directory';
import { defaultTenant } from '../http/caller-options.ts';
import { developmentIssuer } from '../platform/development-issuer.ts';
import { adminHealth, type ChildSpec, loopback } from './platform-processes.ts';

/**
 * The addresses at which the console finds the services; the address of a service that does not run is undefined, and
 * the console has no pages for it.
 */
export type ConsoleAt = {
  /** Origin of the console in browsers. */
  readonly origin: string;
  /** The port on which the process listens for the relay of `portcullis up`. */
  readonly port: number;
  readonly adminPort: number;
  readonly signInPort: number;
  readonly persons: readonly string[];
  readonly management: string | undefined;
  readonly retrieval: string | undefined;
  readonly memory: string | undefined;
  readonly catalogue: string | undefined;
  readonly gateway: string;
};

export function consoleProcess(data: DataDirectory, at: ConsoleAt): ChildSpec {
  const { origin, port, adminPort, signInPort, persons, management = '', retrieval, memory, catalogue, gateway } = at;
  return {
    name: 'console',
    kind: 'console',
    env: {
      PORTCULLIS_LISTEN: loopback(port),
      PORTCULLIS_ADMIN_LISTEN: loopback(adminPort),
      PORTCULLIS_CONSOLE_URL: origin,
      PORTCULLIS_COOKIE_KEY_FILE: data.cookieKey,
      PORTCULLIS_OIDC_ISSUER_URL: `http://${loopback(signInPort)}`,
      PORTCULLIS_MANAGEMENT_URL: management,
      PORTCULLIS_GATEWAY_URL: gateway,
      PORTCULLIS_IDENTITY: 'development',
      PORTCULLIS_TENANT: defaultTenant,
      PORTCULLIS_PERSONS: persons.join(','),
      ...(retrieval === undefined ? {} : { PORTCULLIS_RETRIEVAL_URL: retrieval }),
      ...(memory === undefined ? {} : { PORTCULLIS_MEMORY_URL: memory }),
      ...(catalogue === undefined ? {} : { PORTCULLIS_CATALOGUE_URL: catalogue }),
    },
    health: adminHealth,
  };
}

/** Sign-in pages for sample persons: the console and its address are the only client. */
export function signInProcess(
  data: DataDirectory,
  { port, origin, persons }: Pick<ConsoleAt, 'port' | 'origin' | 'persons'>,
): ChildSpec {
  return {
    name: 'signin',
    kind: 'signin',
    env: {
      PORTCULLIS_LISTEN: loopback(port),
      PORTCULLIS_ISSUER: developmentIssuer.issuer,
      PORTCULLIS_AUDIENCE: developmentIssuer.audience,
      PORTCULLIS_SIGNING_KEYS_FILE: data.signingKeys,
      PORTCULLIS_SIGN_IN_CODE_FILE: data.signInCode,
      PORTCULLIS_PERSONS: persons.join(','),
      PORTCULLIS_REDIRECT_URI: `${origin}/sign-in/callback`,
    },
    health: ({ listening }) => `${listening}/livez`,
  };
}
