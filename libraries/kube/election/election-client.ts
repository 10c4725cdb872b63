import { type ClientOptions, createClient, type KubeClient } from '../client/client.ts';

/**
 * Request timeout of an election, milliseconds: well below the renew deadline of 10 s, so that a leader whose
 * connection is dead can still renew the lease over a new connection.
 */
export const electionTimeoutMs = 4_000;

/** A watch and a request, and as many again for requests that timed out and are still being closed. */
export const electionMaxSockets = 4;

/** A client with its own connections, so that other requests of the process cannot delay a renewal. */
export function createElectionClient(options: ClientOptions): KubeClient & AsyncDisposable {
  return createClient({ requestTimeoutMs: electionTimeoutMs, maxSockets: electionMaxSockets, ...options });
}
