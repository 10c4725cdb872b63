import { join } from 'node:path';
import { unusedPort } from '#kit/testing/loopback';
import { findServerProgram, type SpawnedServer, startServerProgram } from '../support/server-program.ts';

export const natsProgram = findServerProgram('nats', 'nats-server');

type NatsServer = SpawnedServer & { readonly port: number; readonly url: string };

type NatsServerOptions = {
  /** The folder in which streams are stored. */
  readonly folder: string;
  readonly port?: number;
  readonly args?: readonly string[];
};

/** A real NATS server with JetStream on loopback. */
export async function startNats({ folder, port, args = [] }: NatsServerOptions): Promise<NatsServer> {
  const [own, health] = [port ?? (await unusedPort()), await unusedPort()];
  const server = await startServerProgram({
    program: natsProgram,
    args: [
      '--addr=127.0.0.1',
      `--port=${own}`,
      `--http_port=${health}`,
      '--jetstream',
      `--store_dir=${join(folder, 'streams')}`,
      ...args,
    ],
    serves: async () => (await fetch(`http://127.0.0.1:${health}/healthz`)).ok,
  });
  return { ...server, port: own, url: `nats://127.0.0.1:${own}` };
}
