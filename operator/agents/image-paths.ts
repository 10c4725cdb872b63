/** Where the process of an image says that it is ready, which card it has, and which tools. */
export const imagePaths = {
  ready: '/health/ready',
  card: '/.well-known/agent-card.json',
  tools: '/.well-known/mcp-tools.json',
} as const;
