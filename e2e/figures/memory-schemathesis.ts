import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestKey, signText, startJwksServer } from '#identity/testing/test-issuer';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startMemory } from '../../dataplane/memory/testing/start-memory.ts';
import { prepareSchemathesis, runSchemathesis } from '../schemathesis/run-schemathesis.ts';
import type { Figure } from '../support/figure.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const examples = { full: 40, small: 2 } as const;
const issuer = 'https://issuer.example';
const audience = 'portcullis';
const tokenSeconds = 3_600;

export const figure: Figure = {
  name: 'memory-schemathesis',
  title: 'the memory service in production mode against its served document, by schemathesis with all checks but one',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const python = await prepareSchemathesis();
    if (!python.ok) return { skipped: python.reason };
    await using world = await openWorld();
    const report = await runSchemathesis(python.path, {
      document: `${world.url}/openapi.json`,
      headers: world.headers,
      configFile: 'memory.toml',
      // The history of a deleted memory still answers: the deletion is its last entry.
      excludedChecks: ['use_after_free'],
      known: world.known,
      examples: examples[size],
    });
    if (report.code !== 0) say(report.output);
    const line = `${report.cases} generated cases, ${report.failures} failures`;
    return { holds: report.code === 0 && report.cases > 0, line };
  },
};

/** The service over a real database with one memory and one state of a session of the caller. */
async function openWorld() {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer());
  const key = await createTestKey('ES256', 'figure');
  const keys = parts.use(await startJwksServer(key));
  const issuersFile = join(parts.use(temporaryFolder()).path, 'issuers.yaml');
  const trusted = { issuer, audience, jwksUrl: keys.url.href, tenantsClaim: 'tenants' };
  writeFileSync(issuersFile, JSON.stringify({ issuers: [trusted] }));
  const config = { identity: { mode: 'production', issuersFile } } as const;
  const memory = parts.use(await startMemory(await server.createDatabase(), { config }));
  const exp = Math.floor(Date.now() / 1_000) + tokenSeconds;
  const rights = { tenants: ['acme'], act: { sub: 'helper' } };
  const token = await signText(key, JSON.stringify({ iss: issuer, sub: 'ann', aud: audience, exp, ...rights }));
  const headers = { 'x-tenant-id': 'acme', authorization: `Bearer ${token}` };
  const said = { messages: [{ role: 'user', content: 'I live in Lisbon.' }], agent_id: 'tutor' };
  const added = await memory.call({}, 'POST', '/v1/memories', said, headers);
  const event = await until('the event has ended', async () => {
    const { json } = await memory.call({}, 'GET', `/v1/events/${added.json['event_id']}`, undefined, headers);
    return json['status'] === 'SUCCEEDED' ? json : undefined;
  });
  const [memoryId] = event['memory_ids'] as readonly string[];
  await memory.call({}, 'POST', '/v1/sessions/chat/state', { state: { step: 1 }, ttl_seconds: 3_600 }, headers);
  const owned = parts.move();
  return {
    url: memory.url,
    // The tool takes the token away by this spelling of the name.
    headers: { 'X-Tenant-Id': 'acme', Authorization: headers.authorization },
    known: {
      'path.memory_id': memoryId ?? '',
      'path.event_id': String(added.json['event_id']),
      'path.session_id': 'chat',
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
