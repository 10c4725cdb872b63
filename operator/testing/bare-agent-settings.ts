/** Agents without any service that they call. */
export const bareAgentSettings = {
  publicUrl: new URL('https://agents.example/base'),
  gateway: undefined,
  retrieval: undefined,
  memory: undefined,
  filesIssuer: undefined,
  traces: undefined,
  modelGateway: undefined,
};
