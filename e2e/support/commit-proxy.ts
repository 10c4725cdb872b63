import { type PostgresProxy, startPostgresProxy } from '#sql/testing/postgres-proxy';

/** A proxy in front of PostgreSQL that drops answers to COMMIT, and some COMMITs before they reach the server. */
export type CommitProxy = PostgresProxy & {
  /** Share of commits that are lost. */
  share: number;
  /** Commits whose answer was lost, and those that never arrived. */
  readonly lost: () => number;
};

/** `Q` of the protocol with the text `commit`. */
const commit = Buffer.from('commit\0');

export async function startCommitProxy(databaseUrl: string): Promise<CommitProxy> {
  const state = { share: 0 };
  let lost = 0;
  const proxy = await startPostgresProxy(databaseUrl, ({ client, database, end }) => {
    let isLosing = false;
    client.on('data', (bytes) => {
      if (bytes.includes(commit) && Math.random() < state.share) {
        lost += 1;
        isLosing = true;
        if (Math.random() < 0.3) return end();
      }
      database.write(bytes);
    });
    database.on('data', (bytes) => (isLosing ? end() : client.write(bytes)));
  });
  return Object.assign(state, proxy, { lost: () => lost });
}
