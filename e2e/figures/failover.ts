import { countLateWrites, measureFailover } from '../kube/measure-failover.ts';
import { filesOf, missingApiServer, openApiServer } from '../kube/open-api-server.ts';
import type { Figure } from '../support/figure.ts';

const bounds = { crashSeconds: 17, orderlySeconds: 2 } as const;

export const figure: Figure = {
  name: 'failover',
  coveredBy: 'e2e/kube/failover.test.ts',
  title: `a standby writes within ${bounds.crashSeconds} s of a crash of the leader and ${bounds.orderlySeconds} s of its orderly shutdown; a leader that was frozen never writes again`,
  run: async (size, say) => {
    if (missingApiServer !== undefined) return { skipped: missingApiServer };
    const rounds = size === 'full' ? 5 : 1;
    await using server = await openApiServer();
    const access = { url: server.access.url, ...filesOf(server.controlPlane) };
    const crashes: number[] = [];
    const ends: number[] = [];
    let late = 0;
    for (let round = 0; round < rounds; round += 1) {
      crashes.push(await measureFailover({ client: await server.client(), access }, 'SIGKILL'));
      ends.push(await measureFailover({ client: await server.client(), access }, 'SIGTERM'));
      late += await countLateWrites({ client: await server.client(), access });
      say(
        `crash ${crashes.at(-1)?.toFixed(2)} s, orderly shutdown ${ends.at(-1)?.toFixed(2)} s, ${late} late writes so far`,
      );
    }
    const [crash, end] = [Math.max(...crashes), Math.max(...ends)];
    return {
      holds: crash <= bounds.crashSeconds && end <= bounds.orderlySeconds && late === 0,
      line:
        `${rounds} rounds: first write of the new leader at most ${crash.toFixed(2)} s after a crash and ` +
        `${end.toFixed(2)} s after an orderly shutdown; ${late} writes of a frozen leader accepted`,
    };
  },
};
