/** Audiences of the tokens of a run, as the exchange of the gateway names them. */
export const audiences = {
  models: 'urn:portcullis:models',
  retrieval: 'urn:portcullis:retrieval',
  memory: 'urn:portcullis:memory',
  agent: (name: string): string => `urn:portcullis:agent:${name}`,
} as const;
