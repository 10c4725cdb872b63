import { z } from 'zod';
import { type GuardedRoute, gatewayRouteSpecSchema } from '#resources/gateway-route';
import type { Resource } from '#resources/metadata';

/** Annotation of a route that holds the application to go back to, as JSON. */
export const previousAnnotation = 'portcullis.dev/previous-application';

/** The application to go back to while the pinned one is not confirmed yet. It travels with the route, in one write. */
export type PreviousApplication =
  | { readonly mode: 'None' }
  | {
      readonly mode: 'Policy';
      readonly token: string;
      readonly contentProfile: string;
      readonly workload: string;
      readonly guardrail: GuardedRoute;
    };

const guardSchema = gatewayRouteSpecSchema.shape.guardrail.options[0];

const previousSchema = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('None') }),
  z.strictObject({
    mode: z.literal('Policy'),
    token: z.string(),
    contentProfile: z.string(),
    workload: z.string(),
    guardrail: guardSchema,
  }),
]);

/** The application to go back to, as the route carries it; what cannot be read is nothing to go back to. */
export function readPrevious(route: Pick<Resource, 'metadata'>): PreviousApplication | undefined {
  const text = route.metadata.annotations?.[previousAnnotation];
  if (text === undefined) return undefined;
  try {
    const parsed = previousSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

export function writePrevious(previous: PreviousApplication | undefined): string | undefined {
  return previous === undefined ? undefined : JSON.stringify(previous);
}
