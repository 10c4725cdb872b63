import { readEnvironment, setting } from '#kit/env/read-environment';
import { requireLoopback } from '#kit/env/require-loopback';
import { logSettings } from '#kit/env/service-settings';
import type { SignInConfig } from './setup/sign-in-config.ts';

export const settings = {
  PORTCULLIS_LISTEN: setting.hostPort({
    help: 'loopback address of the sign-in pages; port 0 chooses a free port',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_ISSUER: setting.string({
    help: 'issuer name in access tokens (`iss`): that of the development issuer',
    default: 'http://issuer.portcullis.localhost',
  }),
  PORTCULLIS_AUDIENCE: setting.string({ help: 'audience of access tokens', default: 'portcullis' }),
  PORTCULLIS_SIGNING_KEYS_FILE: setting.path({
    help: "file of the development issuer's private keys, created at the first start",
  }),
  PORTCULLIS_SIGN_IN_CODE_FILE: setting.path({
    help: 'file that gets the code for the next sign-in, readable by its owner only',
  }),
  PORTCULLIS_PERSONS: setting.list({ help: 'subjects that can sign in, at most 8' }),
  PORTCULLIS_REDIRECT_URI: setting.url({ help: 'the only address that a sign-in returns to' }),
  PORTCULLIS_SESSION_SECONDS: setting.integer({
    help: 'lifetime of an access token, which ends the session of its person, seconds',
    min: 1,
    max: 86_400,
    default: 28_800,
  }),
  ...logSettings,
};

export function readConfig(env: NodeJS.ProcessEnv = process.env): SignInConfig {
  const read = readEnvironment(settings, env);
  const { host, port } = requireLoopback('PORTCULLIS_LISTEN', read.PORTCULLIS_LISTEN);
  return {
    host,
    port,
    issuer: read.PORTCULLIS_ISSUER,
    audience: read.PORTCULLIS_AUDIENCE,
    keyFile: read.PORTCULLIS_SIGNING_KEYS_FILE,
    codeFile: read.PORTCULLIS_SIGN_IN_CODE_FILE,
    persons: read.PORTCULLIS_PERSONS.slice(0, 8),
    redirectUri: read.PORTCULLIS_REDIRECT_URI.href,
    sessionSeconds: read.PORTCULLIS_SESSION_SECONDS,
    logLevel: read.PORTCULLIS_LOG_LEVEL,
  };
}
