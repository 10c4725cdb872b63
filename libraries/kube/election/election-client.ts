import { type ClientOptions, createClient, type KubeClient } from '../client/client.ts';

/**
 * Milliseconds after which a request about a lease is given up: well within the renew deadline of 10 s, so that a leader
 * whose socket does not answer gives it up and renews over another one in time.
 */
export const electionTimeoutMs = 4_000;

/** One for a watch of the lease, one for a request about it, and as many for those that were given up and still end. */
export const electionMaxSockets = 4;

/** The client of an election. It has sockets of its own: a lease is renewed in time, however much else is asked for. */
export function createElectionClient(options: ClientOptions): KubeClient & AsyncDisposable {
  return createClient({ requestTimeoutMs: electionTimeoutMs, maxSockets: electionMaxSockets, ...options });
}
