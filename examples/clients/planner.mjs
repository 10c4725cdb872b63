// Finds an agent for a task in the agent catalogue, and calls it with the official client of A2A. Needs: npm install @a2a-js/sdk
// Usage: CATALOGUE=URL TOKEN=TOKEN node planner.mjs WORKSPACE TASK
// On one machine, where a header names the person: CATALOGUE=URL PERSON=bob node planner.mjs examples "answer a question"
import { randomUUID } from 'node:crypto';
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, RestTransportFactory } from '@a2a-js/sdk/client';

const { CATALOGUE: catalogue, TOKEN: token, PERSON: person } = process.env;
const [workspaceId, task] = process.argv.slice(2);
const identity = token ? { authorization: `Bearer ${token}` } : { 'x-user-id': person, 'x-tenant-id': 'default' };
/** The identity is sent to the catalogue and to the gateway that it names, and to no other address that a card has. */
const trusted = new Set([new URL(catalogue).origin]);
const fetchImpl = (input, init = {}) => {
  const { origin } = new URL(input instanceof Request ? input.url : input);
  if (!trusted.has(origin)) throw new Error(`${origin} is neither the catalogue nor its gateway.`);
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(identity)) headers.set(name, value);
  return fetch(input, { ...init, headers });
};

const found = await fetchImpl(`${catalogue}/api/v1/agents/search`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query: task, workspaceId, protocols: ['a2a'], topK: 5, minScore: 0.01 }),
});
if (!found.ok) throw new Error(`The catalogue refused the search: ${(await found.json()).error.code}`);
const agent = (await found.json()).matches.find(({ invocationInterface }) => invocationInterface !== undefined);
if (agent === undefined) {
  console.log('No agent fits.');
  process.exit(3);
}

const { url } = agent.invocationInterface;
trusted.add(new URL(url).origin);
const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(`${url}/`);
const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
  transports: [new RestTransportFactory({ fetchImpl })],
  preferredTransports: ['HTTP+JSON'],
});
const client = await new ClientFactory(options).createFromAgentCard(card);
const part = { content: { $case: 'text', value: task }, mediaType: 'text/plain', filename: '', metadata: {} };
const ids = { messageId: randomUUID(), contextId: '', taskId: '', extensions: [], referenceTaskIds: [], metadata: {} };
const message = { ...ids, role: 1, parts: [part] };
const answer = await client.sendMessage({ tenant: '', message, configuration: undefined, metadata: {} });
console.log(`${agent.name} (${agent.score.toFixed(2)}):`);
for (const { content } of answer.parts ?? []) if (content.$case === 'text') console.log(content.value);
