import type { ServedPin } from '../ports.ts';

export const samplePin: ServedPin = {
  workload: 'g-1',
  previous: [],
  policyId: 'id',
  policyRevision: '1',
  contentProfile: 'p',
  digest: 'd'.repeat(64),
  token: '',
  limits: {
    maxBodyBytes: 8_192,
    maxMessages: 8,
    deadlineMs: { request: 100, response: 200 },
    division: { allowed: true },
  },
};
