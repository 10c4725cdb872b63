import { z } from 'zod';
import { connectionMethods, connectionNameSchema, flowConnectionLimits } from '#contracts/connections';
import { networkSchema } from './network-schema.ts';
import { readYamlFile, repeatedNames } from './read-yaml-file.ts';

const within = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max);
/** Headers that contain the credential; others would change how the request is read. */
const credentialHeader = z
  .string()
  .regex(/^(?:authorization|api-key|x-[a-z0-9-]{1,60})$/, 'must be authorization, api-key or begin with x-')
  .default('authorization');

const shared = {
  name: connectionNameSchema,
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .refine((text) => !/[?#@\\]/.test(text), 'must have no query, fragment, user or password')
    .transform((text) => new URL(text)),
  credential: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/, 'must have 1 to 128 letters, digits, ".", "_" and "-" only')
    .optional(),
  credentialHeader,
  agents: z.array(z.string().min(1).max(63)).min(1).max(256),
  allowedNetworks: z.array(networkSchema).max(64).default([]),
  timeoutMs: within(flowConnectionLimits.timeoutMs).default(flowConnectionLimits.timeoutMs.default),
  maxAnswerBytes: within(flowConnectionLimits.answerBytes).default(flowConnectionLimits.answerBytes.default),
  maxConcurrency: within(flowConnectionLimits.concurrency).default(flowConnectionLimits.concurrency.default),
};
const connection = z
  .discriminatedUnion('kind', [
    z.strictObject({
      ...shared,
      kind: z.literal('http'),
      methods: z.array(z.enum(connectionMethods)).min(1).default(['GET']),
    }),
    z.strictObject({
      ...shared,
      kind: z.literal('mcp'),
      tools: z.array(z.string().min(1).max(flowConnectionLimits.toolName)).min(1).max(256),
    }),
  ])
  .refine(({ url, allowedNetworks }) => url.protocol !== 'http:' || allowedNetworks.length > 0, {
    error: 'must be an https address unless allowedNetworks is set',
    path: ['url'],
  });

/**
 * The connections of an environment (`connections.yaml`): outside HTTP services and MCP servers that flows of the listed
 * agents may call through the gateway. `credential` names a file in the secrets folder of the gateway.
 */
export const connectionsFileSchema = z.strictObject({ connections: z.array(connection).max(256) });

export type FlowConnection = z.output<typeof connection>;

/**
 * Reads the file of connections; without the file there are no connections. Problems do not repeat content of the file.
 */
export async function readConnectionsFile(
  path: string,
): Promise<{ readonly value: readonly FlowConnection[]; readonly problems: readonly string[] }> {
  const { value, problems } = await readYamlFile(path, connectionsFileSchema, { connections: [] });
  const twice = repeatedNames(value.connections).map((name) => `${path}: the connection ${name} is listed twice`);
  return { value: value.connections, problems: [...problems, ...twice] };
}
