/** The paths of the process of an image for readiness, card and tools. */
export const imagePaths = {
  ready: '/health/ready',
  card: '/.well-known/agent-card.json',
  tools: '/.well-known/mcp-tools.json',
} as const;
