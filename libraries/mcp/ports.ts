/** A tool of an MCP server (MCP 2025-11-25). */
export type McpTool<Caller> = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema 2020-12 of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Runs with the rights of the caller. Throws McpToolError with a message for the caller. */
  readonly call: (caller: Caller, input: unknown, signal: AbortSignal) => Promise<unknown>;
};
