import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '#kit/testing/loopback';

/** A proxy in front of PostgreSQL that drops answers to COMMIT, and some COMMITs before they reach the server. */
export type CommitProxy = AsyncDisposable & {
  /** URL of the database through the proxy. */
  readonly url: string;
  /** Share of commits that are lost. */
  share: number;
  /** Commits whose answer was lost, and those that never arrived. */
  readonly lost: () => number;
};

/** `Q` of the protocol with the text `commit`. */
const commit = Buffer.from('commit\0');

export async function startCommitProxy(databaseUrl: string): Promise<CommitProxy> {
  const target = new URL(databaseUrl);
  const state = { share: 0 };
  let lost = 0;
  const open = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let isLosing = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      open.delete(client);
      open.delete(upstream);
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (bytes) => {
      if (bytes.includes(commit) && Math.random() < state.share) {
        lost += 1;
        isLosing = true;
        if (Math.random() < 0.3) return end();
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => (isLosing ? end() : client.write(bytes)));
  });
  const url = new URL(await listenOnLoopback(server));
  return Object.assign(state, {
    url: Object.assign(new URL(databaseUrl), { host: url.host }).href,
    lost: () => lost,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}
