import { z } from 'zod';
import type { Capability } from '../bundle/capabilities.ts';
import type { LoadedAgent } from '../bundle/load-agent.ts';

const text = z.string().min(1);
const modes = z.array(text).min(1);

/** The agent card of A2A 1.0, as far as this agent declares it. */
const cardSchema = z.strictObject({
  name: text,
  description: text,
  version: text,
  supportedInterfaces: z
    .array(z.strictObject({ url: z.url(), protocolBinding: z.literal('HTTP+JSON'), protocolVersion: z.literal('1.0') }))
    .length(1),
  capabilities: z.strictObject({
    streaming: z.boolean(),
    pushNotifications: z.literal(false),
    extendedAgentCard: z.literal(false),
  }),
  defaultInputModes: modes,
  defaultOutputModes: modes,
  skills: z
    .array(z.strictObject({ id: text, name: text, description: text, tags: modes, examples: z.array(text).optional() }))
    .min(1),
  securitySchemes: z.record(
    text,
    z.strictObject({ httpAuthSecurityScheme: z.strictObject({ scheme: text, bearerFormat: text }) }),
  ),
  securityRequirements: z.array(z.strictObject({ schemes: z.record(text, z.strictObject({ list: z.array(text) })) })),
});
export type AgentCard = z.output<typeof cardSchema>;

const loopback = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * The card of a version: its manifest with the confirmed capabilities only (`agents:card:built-from`,
 * `agents:card:flags`). The card contains the address at the gateway, never the address of this process.
 * @returns undefined if the card would be invalid in A2A 1.0, or if its address is neither https nor on this machine
 */
export function buildCard(
  { bundle, flow, manifest }: LoadedAgent,
  confirmed: ReadonlySet<Capability>,
): AgentCard | undefined {
  const { protocol, hostname } = new URL(bundle.publicUrl);
  if (protocol !== 'https:' && !loopback.has(hostname)) return undefined;
  if (!confirmed.has('a2a.message')) return undefined;
  const { agent, contract, a2a } = manifest;
  const built = cardSchema.safeParse({
    name: agent.title,
    description: agent.description,
    version: String(flow.source.metadata.version),
    supportedInterfaces: [{ url: bundle.publicUrl, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
    capabilities: {
      streaming: contract.capabilities.streaming && confirmed.has('a2a.streaming'),
      pushNotifications: false,
      extendedAgentCard: false,
    },
    defaultInputModes: contract.inputMediaModes,
    defaultOutputModes: contract.outputMediaModes,
    skills: a2a?.skills,
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  });
  return built.data;
}
