import { ask, memberAt, type Probe } from './probe.ts';

const said = 'check';
const message = { message: { messageId: 'selfcheck', role: 'ROLE_USER', parts: [{ text: said }] } };

/**
 * Confirms that message:send answers with a final Message and refuses another version and a call without an identity.
 */
export async function confirmMessage(probe: Probe): Promise<boolean> {
  const sent = await ask(probe, '/message:send', { body: message });
  const old = await ask(probe, '/message:send', { body: message, headers: { 'a2a-version': '0.3' } });
  const unknown = await ask(probe, '/message:send', { body: message, headers: { authorization: 'Bearer none' } });
  const text = memberAt(sent.text, 'message', 'parts', 0, 'text');
  return sent.status === 200 && text === said && old.status === 400 && unknown.status === 401;
}

/**
 * Confirms that message:stream sends the task, ordered updates and a final status, and that an ended task has no
 * subscription.
 */
export async function confirmStreaming(probe: Probe): Promise<boolean> {
  const streamed = await ask(probe, '/message:stream', { body: message });
  const events = streamed.text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => frame.slice('data: '.length));
  const [task = 'null', working = 'null', artifact = 'null', end = 'null', ...more] = events;
  const id = memberAt(task, 'task', 'id');
  const state = (event: string): unknown => memberAt(event, 'statusUpdate', 'status', 'state');
  const isOrdered =
    state(working) === 'TASK_STATE_WORKING' &&
    memberAt(artifact, 'artifactUpdate', 'artifact', 'parts', 0, 'text') === said &&
    state(end) === 'TASK_STATE_COMPLETED' &&
    more.length === 0;
  if (typeof id !== 'string' || !isOrdered) return false;
  const read = await ask(probe, `/tasks/${id}`, { method: 'GET' });
  const again = await ask(probe, `/tasks/${id}:subscribe`);
  return memberAt(read.text, 'status', 'state') === 'TASK_STATE_COMPLETED' && again.status === 400;
}
