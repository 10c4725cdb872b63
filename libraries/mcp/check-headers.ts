import type { IncomingHttpHeaders } from 'node:http';
import { protocolVersions } from './message.ts';

/** A client that names no version uses this one (MCP 2025-11-25, transports, protocol version header). */
const assumedVersion = '2025-03-26';

/** The header of the protocol version, as OpenAPI describes it. */
export const versionParameter = {
  name: 'MCP-Protocol-Version',
  in: 'header',
  description: 'The negotiated version of the protocol.',
  required: false,
  schema: { type: 'string', enum: [assumedVersion, ...protocolVersions] },
} as const;

/**
 * Checks the headers of a message. A request from a web page is refused: otherwise a page of another site could use the
 * network access of its reader (MCP 2025-11-25, transports, security warning).
 * @param offered revisions that the header may name; a client without the header uses the negotiated revision, or the
 * oldest
 * @returns undefined if the message may be answered
 */
export function headerFault(
  headers: IncomingHttpHeaders,
  offered: readonly string[] = [assumedVersion, ...protocolVersions],
): 'foreign_origin' | 'unknown_version' | undefined {
  if (headers.origin !== undefined) return 'foreign_origin';
  const version = headers['mcp-protocol-version'];
  const isKnown = version === undefined || offered.some((one) => one === version);
  return isKnown ? undefined : 'unknown_version';
}
