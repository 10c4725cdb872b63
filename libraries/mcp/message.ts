import { z } from 'zod';

/**
 * Revisions of the protocol that a server supports; if a client requests another revision, the answer names the first
 * one.
 */
export const protocolVersions = ['2025-11-25', '2025-06-18'] as const;

/** Codes of the error object of JSON-RPC 2.0. */
export const rpcErrors = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
} as const;

const id = z.union([z.string(), z.int()]);

/**
 * One message of a client (MCP 2025-11-25, base protocol): a request, a notification without an id, or an answer to a
 * request of the server. Batches are not part of the protocol.
 */
export const clientMessageSchema = z
  .looseObject({
    jsonrpc: z.literal('2.0'),
    id: id.optional(),
    method: z.string().optional(),
    params: z.looseObject({}).optional(),
  })
  .refine(({ id: named, method }) => method !== undefined || named !== undefined, {
    error: 'must have a method or the id of a request',
  })
  .meta({
    description: 'A JSON-RPC message of the Model Context Protocol.',
    anyOf: [{ required: ['method'] }, { required: ['id'] }],
  });

export type ClientMessage = z.output<typeof clientMessageSchema>;

/** The answer to a request. */
export const serverAnswerSchema = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    id,
    result: z.looseObject({}).optional(),
    error: z.strictObject({ code: z.int(), message: z.string() }).optional(),
  })
  .describe('The result or the error of a request.');

export type ServerAnswer = z.output<typeof serverAnswerSchema>;
