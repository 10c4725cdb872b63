import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { closeServer, listenOnLoopback } from '#kit/testing/loopback';

export type ToolServer = AsyncDisposable & {
  /** Address of the MCP endpoint. */
  readonly url: string;
  /** Headers of the requests, as Node read them. */
  readonly seen: readonly Readonly<Record<string, unknown>>[];
  /** Sessions that are open. */
  readonly sessions: ReadonlyMap<string, unknown>;
};

type ToolServerOptions = {
  /** Bearer token without which the server answers 401. */
  readonly token: string;
  /** Whether answers are JSON instead of streams of events. */
  readonly json?: boolean;
};

/**
 * An MCP server of the official SDK with the tools `weather`, which answers a text and a value, `refuse`, which fails, and
 * `picture`, whose result is no text.
 */
export async function startToolServer({ token, json = false }: ToolServerOptions): Promise<ToolServer> {
  const seen: Readonly<Record<string, unknown>>[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const server = createServer(async (incoming, response) => {
    seen.push({ method: incoming.method, ...incoming.headers });
    if (incoming.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    const id = incoming.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    const transport = known ?? (await openSession(sessions, json));
    await transport.handleRequest(incoming, response);
  });
  const origin = await listenOnLoopback(server, 0);
  return {
    url: `${origin}/mcp`,
    seen,
    sessions,
    async [Symbol.asyncDispose]() {
      for (const transport of sessions.values()) await transport.close();
      await closeServer(server);
    },
  };
}

async function openSession(sessions: Map<string, StreamableHTTPServerTransport>, json: boolean) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: json,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  const server = new McpServer({ name: 'tools', version: '1.0.0' });
  server.registerTool(
    'weather',
    { inputSchema: { city: z.string() }, outputSchema: { city: z.string(), celsius: z.number() } },
    async ({ city }) => ({
      content: [{ type: 'text', text: `It is 21 degrees in ${city}.` }],
      structuredContent: { city, celsius: 21 },
    }),
  );
  server.registerTool('refuse', {}, async () => ({ content: [{ type: 'text', text: 'no' }], isError: true }));
  server.registerTool('picture', {}, async () => ({
    content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
  }));
  await server.connect(transport as never);
  return transport;
}
