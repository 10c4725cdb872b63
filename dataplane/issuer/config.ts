import { readEnvironment, setting } from '#kit/env/read-environment';
import { requireLoopback } from '#kit/env/require-loopback';

const settings = {
  PORTCULLIS_LISTEN: setting.hostPort({
    help: 'loopback address of the development issuer; port 0 chooses a free port',
    default: '127.0.0.1:0',
  }),
  PORTCULLIS_ISSUER: setting.string({
    help: 'issuer name in tokens (`iss`), independent of the listening address',
    default: 'http://issuer.portcullis.localhost',
  }),
  PORTCULLIS_SIGNING_KEYS_FILE: setting.path({
    help: "file of the development issuer's private keys, created at the first start",
  }),
};

export type IssuerConfig = {
  readonly host: string;
  readonly port: number;
  readonly issuer: string;
  readonly keyFile: string;
};

export function readConfig(env: NodeJS.ProcessEnv = process.env): IssuerConfig {
  const read = readEnvironment(settings, env);
  const { host, port } = requireLoopback('PORTCULLIS_LISTEN', read.PORTCULLIS_LISTEN);
  return { host, port, issuer: read.PORTCULLIS_ISSUER, keyFile: read.PORTCULLIS_SIGNING_KEYS_FILE };
}
