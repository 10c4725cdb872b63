import { type ExpectedFailure, expectedFailures, expectedPasses } from './expected-checks.ts';

type ExpectedChecks = {
  readonly passes: readonly string[];
  readonly failures: Readonly<Record<string, ExpectedFailure>>;
};

const oneTool = 'the version of an agent has one tool and declares no other feature: ';
const streams = /^server-sse-/;

/**
 * The failures of the other servers, with the reason that applies to an agent, except for the failures about streams.
 */
const commonFailures = Object.fromEntries(
  Object.entries(expectedFailures)
    .filter(([name]) => !streams.test(name))
    .map(([name, { message, reason }]) => {
      const isFeature = message === 'Method not found';
      return [name, { message, reason: isFeature ? `${oneTool}${name.split(/[- ]/)[0]} is refused` : reason }];
    }),
);

/** The report of the suite 0.1.16 about a version of an agent. */
export const agentChecks: ExpectedChecks = {
  passes: expectedPasses,
  failures: {
    ...commonFailures,
    'server-sse-multiple-streams server-accepts-multiple-post-streams': {
      reason: 'the suite sends the edition 2025-03-26 in a session of 2025-11-25, which is the only one that is served',
      message: 'Statuses: 400, 400, 400',
    },
    'server-sse-polling server-sse-test-reconnection-tool': {
      reason: 'the suite sends the edition 2025-03-26 and calls a tool of its own reference server',
      message: 'does not implement test_reconnection tool (HTTP 400)',
    },
  },
};

/** Scenarios in which the suite 0.2 also compares every answer with the schema of the protocol. */
const withSchema = [...new Set([...Object.keys(commonFailures), ...expectedPasses].map((name) => name.split(' ')[0]))];

/** The report of the suite 0.2.0-alpha.12 about a version of an agent for the edition 2025-11-25. */
export const agentChecksAhead: ExpectedChecks = {
  passes: [
    ...expectedPasses,
    ...withSchema.filter((name) => name !== 'dns-rebinding-protection').map((name) => `${name} wire-schema-valid`),
    'server-initialize server-session-id-visible-ascii',
    'server-session-lifecycle server-session-delete-accepted',
    'server-session-lifecycle server-session-initialized-accepted',
    'server-session-lifecycle server-session-terminated-returns-404',
    'server-sse-multiple-streams server-accepts-multiple-post-streams',
    'tools-list tools-name-format',
  ],
  failures: commonFailures,
};
