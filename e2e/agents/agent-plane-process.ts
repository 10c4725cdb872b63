// Usage: agent-plane-process.ts AGENT: a gateway in its own process that serves the stub of an agent at this origin, with
// people known by tokens and rights in PostgreSQL. Its ready line has a token of a person who may call the agent.
import { digestOf } from '#contracts/canonical';
import { writeReadyLine } from '#kit/process/ready';
import { openRelations } from '#relations/adapters/open-relations';
import { userSubject } from '#relations/subject';
import { connectSql, passwordFrom } from '#sql/connect';
import { startTestServer } from '#sql/testing/test-server';
import {
  agentId,
  peopleIssuer,
  routedVersion,
  startAgentPlane,
} from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { stubCard } from './stub-card.ts';

const server = await startTestServer();
const { url, passwordFile } = await server.createDatabase();
const database = connectSql({ url, applicationName: 'agents', password: passwordFrom(passwordFile) });
const relations = await openRelations({ kind: 'postgres' }, database, undefined);
const subject = userSubject({ issuer: peopleIssuer, subject: 'ann' });
await relations.grant([{ subject, relation: 'invoke', object: `agent:${agentId}` }]);
const world = await startAgentPlane({ atOnce: 10_000, perMinute: 10_000_000 }, [], undefined, relations);
await world.serve({
  versions: [routedVersion({ url: process.argv[2] ?? '' }, { modes: ['A2A'], cardDigest: digestOf(stubCard) })],
});
writeReadyLine({ listening: world.url, token: await world.personToken('ann') });

async function end(): Promise<void> {
  await world[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  process.exit(0);
}
process.stdin.resume().on('end', () => void end());
process.on('SIGTERM', () => void end());
