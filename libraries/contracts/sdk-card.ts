import { z } from 'zod';

const line = z.string().min(1).max(1_024);
const text = z.string().min(1).max(8_192);
const mediaModes = z.array(z.string().min(1).max(255)).min(1).max(64);

/**
 * The members of an agent card of A2A 1.0 that are published exactly as the author wrote them. Other members are
 * ignored.
 */
const sdkCardSchema = z.object({
  name: line,
  description: text,
  version: line,
  provider: z.object({ organization: line, url: line }).optional(),
  documentationUrl: line.optional(),
  iconUrl: line.optional(),
  capabilities: z.object({ streaming: z.boolean().optional() }).optional(),
  defaultInputModes: mediaModes,
  defaultOutputModes: mediaModes,
  skills: z
    .array(
      z.object({
        id: line,
        name: line,
        description: text,
        tags: z.array(line).max(64),
        examples: z.array(text).max(64).optional(),
        inputModes: mediaModes.optional(),
        outputModes: mediaModes.optional(),
      }),
    )
    .min(1)
    .max(128),
});
type SdkCard = z.output<typeof sdkCardSchema>;

type ReadCard = { readonly ok: true; readonly card: SdkCard } | { readonly ok: false; readonly problem: string };

/** Reads a card of an author. A problem names the member, never its value. */
export function readSdkCard(value: unknown): ReadCard {
  const read = sdkCardSchema.safeParse(value);
  if (read.success) return { ok: true, card: read.data };
  const [first] = read.error.issues;
  const member = first?.path.join('.') ?? '';
  return {
    ok: false,
    problem: `${member === '' ? 'the card' : member} is missing or has another form than A2A 1.0 says`,
  };
}

/**
 * The card of an image as the platform publishes it: with the address at the gateway as its only interface and with the
 * authentication of the gateway. Signatures, other bindings, extensions and push notifications of the author are removed,
 * because the gateway does not serve them, and the gateway adds its own signature later.
 * @param publicUrl address of the version at the gateway
 */
export function publishedSdkCard({ capabilities, ...card }: SdkCard, publicUrl: string) {
  return {
    ...card,
    supportedInterfaces: [{ url: publicUrl, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
    capabilities: {
      streaming: capabilities?.streaming ?? false,
      pushNotifications: false,
      extendedAgentCard: false,
    },
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  };
}
