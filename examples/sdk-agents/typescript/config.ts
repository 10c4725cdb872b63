import type { AgentSettings } from './verify-call.ts';

type ExampleConfig = AgentSettings & { readonly model: string; readonly host: string; readonly port: number };

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

/** The settings of the example. @throws Error if a setting is missing */
export function readConfig(): ExampleConfig {
  return {
    gateway: new URL(setting('PORTCULLIS_GATEWAY_URL')),
    issuer: setting('PORTCULLIS_GATEWAY_ISSUER'),
    agentId: setting('AGENT_ID'),
    versionId: setting('VERSION_ID'),
    model: process.env['MODEL'] ?? setting('MODELS').split(',')[0] ?? '',
    host: process.env['HOST'] ?? '0.0.0.0',
    port: Number(process.env['PORT'] ?? 8_080),
  };
}
