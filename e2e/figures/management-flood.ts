import { largestLogBytes } from '#kit/process/child-log';
import { missingPostgres } from '#sql/testing/test-server';
import { floodManagement } from '../management/measure-flood.ts';
import type { Figure } from '../support/figure.ts';

const sizes = {
  full: { quietSeconds: 60, floodSeconds: 300, policies: 500 },
  small: { quietSeconds: 5, floodSeconds: 8, policies: 50 },
} as const;
/** A short flood is mostly the burst that a subject may send, so that the bound holds for the full size. */
const mostTimes = { full: 2, small: Number.POSITIVE_INFINITY } as const;

export const figure: Figure = {
  name: 'management-flood',
  title:
    'one subject floods the policy management API: the store stays within its quota, reads of others take at most twice as long, and the log is bounded',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const { policies, quietSeconds, floodSeconds } = sizes[size];
    const environment = {
      PORTCULLIS_MAX_POLICIES: String(policies),
      PORTCULLIS_MAX_REVISIONS: String(policies),
      PORTCULLIS_REQUESTS_PER_MINUTE: '3000',
    };
    const found = await floodManagement({ quietSeconds, floodSeconds, environment });
    say(JSON.stringify(found));
    const times = found.floodedMs / found.quietMs;
    const sent = Object.values(found.flood).reduce((sum, count) => sum + count, 0);
    const line =
      `${sent} requests in ${floodSeconds} s, of them ${found.flood[202] ?? 0} commands accepted and ${found.flood[429] ?? 0} requests refused with 429; ` +
      `${found.policies} policies and ${found.revisions} revisions of at most ${policies}; reads of others, 95th percentile ` +
      `${found.quietMs.toFixed(1)} ms before and ${found.floodedMs.toFixed(1)} ms during the flood (${times.toFixed(2)} times), ` +
      `${found.failed} failed; ${Math.ceil(found.logBytes / 1_024)} KiB of log`;
    const isBounded = found.policies <= policies && found.revisions <= policies;
    const isFair = times <= mostTimes[size] && found.failed === 0;
    return { holds: isBounded && isFair && found.logBytes <= largestLogBytes && (found.flood[429] ?? 0) > 0, line };
  },
};
