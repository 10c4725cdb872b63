import { until } from '#kit/testing/until';
import { startTestServer } from '#sql/testing/test-server';
import { startMemory } from '../../dataplane/memory/testing/start-memory.ts';
import { openTokenUser, serviceFigure } from '../schemathesis/service-figure.ts';

export const figure = serviceFigure({
  name: 'memory-schemathesis',
  title: 'the memory service in production mode against its served document, by schemathesis with all checks',
  configFile: 'memory.toml',
  open: openMemoryService,
});

/** Opens the service with a real database, one memory and one session state of the caller. */
async function openMemoryService() {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer());
  const { config, headers } = await openTokenUser(parts);
  const memory = parts.use(await startMemory(await server.createDatabase(), { config }));
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
    headers,
    known: {
      'path.memory_id': memoryId ?? '',
      'path.event_id': String(added.json['event_id']),
      'path.session_id': 'chat',
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
