import { ask, memberAt, type Probe } from './probe.ts';

const accept = { accept: 'application/json, text/event-stream' };
const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'selfcheck', version: '1' },
};

/**
 * Confirms that a session can be opened and completed, that its only tool is listed and called, and that an unknown
 * method is an error.
 */
export async function confirmMcp(probe: Probe): Promise<boolean> {
  let id = 0;
  const send = (method: string, params: object, headers: Record<string, string>) => {
    id += 1;
    const isRequest = !method.startsWith('notifications/');
    const body = { jsonrpc: '2.0', method, params, ...(isRequest ? { id } : {}) };
    return ask(probe, '/mcp', { body, headers: { ...accept, ...headers } });
  };
  const opened = await send('initialize', initialize, {});
  const session = opened.headers.get('mcp-session-id');
  if (session === null || memberAt(opened.text, 'result', 'protocolVersion') !== '2025-11-25') return false;
  const known = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  const completed = await send('notifications/initialized', {}, known);
  const listed = await send('tools/list', {}, known);
  const called = await send('tools/call', { name: 'repeat', arguments: { text: 'check' } }, known);
  const wrong = await send('resources/list', {}, known);
  const ended = await ask(probe, '/mcp', { method: 'DELETE', headers: known });
  const after = await send('ping', {}, known);
  return (
    completed.status === 202 &&
    memberAt(listed.text, 'result', 'tools', 0, 'outputSchema', 'type') === 'object' &&
    memberAt(listed.text, 'result', 'tools', 1) === undefined &&
    memberAt(called.text, 'result', 'structuredContent', 'text') === 'check' &&
    memberAt(wrong.text, 'error', 'code') === -32_601 &&
    ended.status === 204 &&
    after.status === 404
  );
}
