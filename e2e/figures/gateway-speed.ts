import { measureRelay, relayBounds, relayGoals, relayRounds } from '../bench/relay-case.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'gateway-speed',
  title:
    'throughput of a gateway, buffered and streamed: unguarded compared with a bare relay in Node.js, guarded compared with unguarded',
  async run(size, say) {
    const figures = await measureRelay(relayRounds[size], say);
    const unguarded = Math.min(...figures.map(({ unguardedToRelay }) => unguardedToRelay));
    const guarded = Math.min(...figures.map(({ guardedToUnguarded }) => guardedToUnguarded));
    const missed = figures.filter(({ answer, unguardedToRelay, guardedToUnguarded }) => {
      const wanted = relayGoals[answer];
      return unguardedToRelay < wanted.unguardedToRelay || guardedToUnguarded < wanted.guardedToUnguarded;
    });
    const { whole, streamed } = relayGoals;
    return {
      holds: unguarded >= relayBounds.unguarded && guarded >= relayBounds.guarded,
      line:
        `smallest ratio unguarded to relay ${unguarded.toFixed(2)}, at least ${relayBounds.unguarded}; ` +
        `guarded to unguarded ${guarded.toFixed(2)}, at least ${relayBounds.guarded}; ` +
        `wanted ${whole.unguardedToRelay} and ${whole.guardedToUnguarded} for whole answers, ` +
        `${streamed.unguardedToRelay} and ${streamed.guardedToUnguarded} for streams: ` +
        (missed.length === 0 ? 'reached' : `missed, ${missed.map(nameOf).join(', ')}`),
    };
  },
};

function nameOf({ answer, callers }: { readonly answer: string; readonly callers: number }): string {
  return `${answer} with ${callers} callers`;
}
