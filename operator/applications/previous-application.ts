import { z } from 'zod';
import { type GuardedRoute, gatewayRouteSpecSchema } from '#resources/gateway-route';
import type { Resource } from '#resources/metadata';

/** Annotation of a route that holds the previous application, as JSON. */
export const previousAnnotation = 'portcullis.dev/previous-application';

/** The previous application while the pinned application is not confirmed. It is written together with the route. */
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

/** The previous application of a route; undefined if the annotation cannot be read. */
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
