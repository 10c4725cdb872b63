import { missingPostgres } from '#sql/testing/test-server';
import { raceApprovals } from '../management/measure-approvals.ts';
import { openBusyWorld } from '../management/open-busy-world.ts';
import { createRandom } from '../streaming/random.ts';
import type { Figure } from '../support/figure.ts';

const sizes = {
  full: { rounds: 400, killed: 0.25 },
  small: { rounds: 12, killed: 0.25 },
} as const;
const seed = 21;

export const figure: Figure = {
  name: 'approvals',
  title:
    'applications that are approved while the approver loses the right, the approval expires, the model is edited or a replica is killed',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const source = createRandom(seed);
    const random = (): number => source.below(1_000_000) / 1_000_000;
    const environment = { PORTCULLIS_REQUESTS_PER_MINUTE: '1000000' };
    await using world = await openBusyWorld({ replicas: 2, environment });
    const found = await raceApprovals(world, { ...sizes[size], random });
    say(JSON.stringify({ ...found, faults: found.faults.slice(0, 10) }));
    const { revocation, expiry, edit, nothing } = found.rounds;
    const line =
      `${revocation} revocations, ${expiry} expiries, ${edit} edits and ${nothing} other rounds with ${found.kills} kills: ` +
      `${found.accepted} of ${found.sent} commands accepted, ${found.faults.length} without a valid approval`;
    return { holds: found.faults.length === 0 && found.accepted > 0, line };
  },
};
