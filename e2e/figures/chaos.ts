import { defaultMaxSockets } from '#kube/client/connection';
import { electionMaxSockets } from '#kube/election/election-client';
import { runChaos } from '../chaos/run-chaos.ts';
import { missingApiServer } from '../kube/open-api-server.ts';
import type { Figure } from '../support/figure.ts';

/** An operator: its API client and its election client have a connection pool each. */
const connections = defaultMaxSockets + electionMaxSockets;
/** Upper bounds: seconds for a recovery; connections of one process to the API server, and its sockets in total. */
const bounds = { recovery: 35, connections, sockets: 128 } as const;

export const figure: Figure = {
  name: 'chaos',
  title: `faults of a real API server and of leaders: nothing lost, recovered within ${bounds.recovery} s, guarded traffic untouched`,
  run: async (size, say) => {
    if (missingApiServer !== undefined) return { skipped: missingApiServer };
    const small = { seconds: 25, stormMs: 3_000, faults: ['429', 'API server restart', 'killed leader'] };
    const report = await runChaos({ ...(size === 'full' ? { seconds: 600, stormMs: 10_000 } : small), say });
    const { traffic, lost, surprises, recovery } = report;
    const wrong = [...lost, ...surprises, ...traffic.failed, ...traffic.unguarded, ...traffic.mixed];
    for (const sentence of wrong.slice(0, 20)) say(sentence);
    const line =
      `${report.seconds.toFixed(0)} s, ${report.rounds} rounds, ${report.faults} faults of requests and connections, ` +
      `${report.edits} edits, ${report.applications} applications: ${lost.length} objects lost, recovered within ` +
      `${recovery.seconds.toFixed(1)} s (${recovery.after}), at most ${report.connections} connections to the API ` +
      `server and ${report.sockets} sockets in one process, ${surprises.length} processes that failed; ` +
      `${traffic.requests} requests: ${traffic.failed.length} failed, ${traffic.unguarded.length} unguarded, ` +
      `${traffic.mixed.length} judged by the wrong generation`;
    const isBounded = report.connections <= bounds.connections && report.sockets <= bounds.sockets;
    const holds = wrong.length === 0 && recovery.seconds <= bounds.recovery && isBounded && traffic.requests > 100;
    return { holds, line };
  },
};
