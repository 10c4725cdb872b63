import { readFileSync } from 'node:fs';
import { ConfigError, readEnvironment, setting } from '#kit/env/read-environment';
import { addressSettings, listenAddressOf, logSettings } from '#kit/env/service-settings';
import type { ConsoleConfig } from './setup/console-config.ts';

export const settings = {
  ...addressSettings,
  PORTCULLIS_CONSOLE_URL: setting.optional(
    setting.url({
      help: 'address of the console in browsers, without a path; the listening address when absent; https except on loopback',
    }),
  ),
  PORTCULLIS_COOKIE_KEY_FILE: setting.file({
    help: 'file with 32 random bytes as base64url, which encrypt the sessions in cookies; the same for every replica',
  }),
  PORTCULLIS_OIDC_ISSUER_URL: setting.url({
    help: 'the OpenID provider where persons sign in; https except on loopback',
  }),
  PORTCULLIS_OIDC_CLIENT_ID: setting.string({
    help: 'id of the console at the OpenID provider',
    default: 'portcullis-console',
  }),
  PORTCULLIS_OIDC_CLIENT_SECRET_FILE: setting.optional(
    setting.file({ help: 'secret of the console at the OpenID provider; a public client with PKCE alone when absent' }),
  ),
  PORTCULLIS_OIDC_SCOPE: setting.string({ help: 'scopes of a sign-in', default: 'openid' }),
  PORTCULLIS_OIDC_RESOURCE: setting.optional(
    setting.string({ help: 'audience that the access token is requested for (RFC 8707)' }),
  ),
  PORTCULLIS_MANAGEMENT_URL: setting.url({ help: 'URL of the policy management API' }),
  PORTCULLIS_RETRIEVAL_URL: setting.optional(
    setting.url({ help: 'URL of the retrieval service; no pages about knowledge when absent' }),
  ),
  PORTCULLIS_MEMORY_URL: setting.optional(
    setting.url({ help: 'URL of the memory service; no pages about memory when absent' }),
  ),
  PORTCULLIS_CATALOGUE_URL: setting.optional(
    setting.url({ help: 'URL of the agent catalogue; no pages about agents when absent' }),
  ),
  PORTCULLIS_GATEWAY_URL: setting.optional(
    setting.url({ help: 'URL of the gateway that serves agents; no chats with agents when absent' }),
  ),
  PORTCULLIS_TENANT: setting.string({
    help: 'tenant of the pages about knowledge, memory and agents',
    default: 'default',
  }),
  PORTCULLIS_IDENTITY: setting.choice({
    help: 'how retrieval, memory, catalogue and agents know a person: production by the token; development by headers, without authentication',
    choices: ['production', 'development'],
  }),
  PORTCULLIS_ACT_CHAIN: setting.choice({
    help: 'production: whether the access tokens of persons have an act chain (RFC 8693); retrieval and memory refuse a token without one, so when absent their pages say so and are not offered',
    choices: ['absent', 'present'],
    default: 'absent',
  }),
  PORTCULLIS_PERSONS: setting.optional(
    setting.list({ help: 'development: persons whose view the pages about knowledge offer' }),
  ),
  ...logSettings,
};

/** @throws ConfigError with every problem */
export function readConfig(env: NodeJS.ProcessEnv = process.env): {
  readonly config: ConsoleConfig;
  readonly cookieKeyFile: string;
} {
  const read = readEnvironment(settings, env);
  const problems = [
    ...insecure('PORTCULLIS_CONSOLE_URL', read.PORTCULLIS_CONSOLE_URL),
    ...insecure('PORTCULLIS_OIDC_ISSUER_URL', read.PORTCULLIS_OIDC_ISSUER_URL),
  ];
  const isDevelopment = read.PORTCULLIS_IDENTITY === 'development';
  if (!isDevelopment && read.PORTCULLIS_PERSONS !== undefined)
    problems.push('PORTCULLIS_PERSONS is set: only development mode shows what another person sees, so remove it');
  const actChain = read.PORTCULLIS_ACT_CHAIN === 'present';
  if (isDevelopment && actChain)
    problems.push('PORTCULLIS_ACT_CHAIN is present: only production mode reads tokens, so remove it');
  if (problems.length > 0) throw new ConfigError(problems);
  const config: ConsoleConfig = {
    listen: listenAddressOf(read),
    adminListen: read.PORTCULLIS_ADMIN_LISTEN,
    origin: read.PORTCULLIS_CONSOLE_URL?.origin,
    oidc: {
      issuer: read.PORTCULLIS_OIDC_ISSUER_URL,
      clientId: read.PORTCULLIS_OIDC_CLIENT_ID,
      clientSecretFile: read.PORTCULLIS_OIDC_CLIENT_SECRET_FILE,
      scope: read.PORTCULLIS_OIDC_SCOPE,
      resource: read.PORTCULLIS_OIDC_RESOURCE,
    },
    services: {
      management: read.PORTCULLIS_MANAGEMENT_URL,
      retrieval: read.PORTCULLIS_RETRIEVAL_URL,
      memory: read.PORTCULLIS_MEMORY_URL,
      catalogue: read.PORTCULLIS_CATALOGUE_URL,
      gateway: read.PORTCULLIS_GATEWAY_URL,
    },
    tenant: read.PORTCULLIS_TENANT,
    identity: read.PORTCULLIS_IDENTITY,
    actChain,
    persons: read.PORTCULLIS_PERSONS ?? [],
    logLevel: read.PORTCULLIS_LOG_LEVEL,
  };
  return { config, cookieKeyFile: read.PORTCULLIS_COOKIE_KEY_FILE };
}

const loopback = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Tokens and cookies cross no network in clear text. */
function insecure(name: string, url: URL | undefined): readonly string[] {
  if (url === undefined || url.protocol === 'https:' || loopback.has(url.hostname)) return [];
  return [`${name} is ${url.origin} but must be an https URL, or one of this machine`];
}

/** The 32 bytes of a key file. @throws ConfigError */
export function readCookieKey(path: string): Uint8Array {
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64url');
  if (key.length === 32) return key;
  throw new ConfigError([`${path} holds ${key.length} bytes as base64url but must hold 32: see "openssl rand 32"`]);
}
