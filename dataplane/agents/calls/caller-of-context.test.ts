import { expect, test } from 'vitest';
import { openTrace } from '#kit/http/trace-context';
import { loadBuiltinAgent } from '../selfcheck/builtin-agent.ts';
import { buildRequest } from '../steps/build-request.ts';
import { callerKey, type ExecutionIdentity } from './agent-call.ts';
import { callerOfContext } from './caller-of-context.ts';

const person = { issuer: 'https://people.example', subject: 'ann' };
const agent = { issuer: 'https://gateway.example', subject: 'helper' };
const identities: readonly ExecutionIdentity[] = [
  { subject: person, actors: [], tenant: undefined, exposure: 'R1', grant: undefined },
  { subject: person, actors: [], tenant: 'default', exposure: 'R1', grant: undefined },
  { subject: person, actors: [agent], tenant: 'default', exposure: 'R1', grant: undefined },
  { subject: agent, actors: [person], tenant: 'default', exposure: 'R1', grant: undefined },
];

test('the caller of a request has the key of the identity that the request was built from', () => {
  const keys = identities.map((identity) => {
    const parts = [{ kind: 'text', text: 'hello' } as const];
    const built = buildRequest(loadBuiltinAgent(), {
      parts,
      session: 's',
      identity,
      runId: 'r',
      trace: openTrace(undefined),
    });
    expect(callerOfContext(built)).toBe(callerKey(identity));
    return callerOfContext(built);
  });
  expect(new Set(keys).size).toBe(identities.length);
});
