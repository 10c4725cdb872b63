import { readEnvironment, setting } from '#kit/env/read-environment';

export const settings = {
  PORTCULLIS_LISTEN: setting.hostPort({ help: 'address that the echo provider listens on', default: '127.0.0.1:0' }),
  PORTCULLIS_ECHO_CHUNK_DELAY_MS: setting.integer({
    help: 'milliseconds before each streamed chunk but the first',
    min: 0,
    max: 60_000,
    default: 5,
  }),
};

export type EchoConfig = { readonly host: string; readonly port: number; readonly chunkDelayMs: number };

export function readConfig(env: NodeJS.ProcessEnv = process.env): EchoConfig {
  const read = readEnvironment(settings, env);
  return {
    host: read.PORTCULLIS_LISTEN.host,
    port: read.PORTCULLIS_LISTEN.port,
    chunkDelayMs: read.PORTCULLIS_ECHO_CHUNK_DELAY_MS,
  };
}
