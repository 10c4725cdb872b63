import { z } from 'zod';
import { resourceIdSchema } from './management.ts';

/** Bounds of freeze windows. */
export const freezeLimits = {
  /** Longest freeze window, days: a window that was forgotten ends at this time. */
  days: 90,
  /** Windows of an installation that have not ended. */
  windows: 500,
} as const;

/** The header of a command that takes effect in a freeze window; its value is `true`. */
export const overrideFreezeHeader = 'x-portcullis-override-freeze';

const startsAt = z.iso.datetime();
const endsAt = z.iso.datetime();

/** Body of POST /api/v1/freezes. */
const newWindow = {
  startsAt: startsAt.optional().describe('Now if absent.'),
  endsAt: endsAt.describe(`After the start and the present, at most ${freezeLimits.days} days after the start.`),
};
export const newFreezeSchema = z.union([
  z.strictObject({ policyId: resourceIdSchema, ...newWindow }),
  z.strictObject({ modelId: resourceIdSchema, ...newWindow }),
]);
export type NewFreeze = z.output<typeof newFreezeSchema>;

export const freezeSchema = z
  .strictObject({
    id: z.string(),
    target: z.strictObject({ type: z.enum(['policy', 'model']), id: z.string() }),
    startsAt,
    endsAt,
  })
  .describe('A window in which applications, unbinds and archivings of a policy or model are refused.');
export type Freeze = z.output<typeof freezeSchema>;

/** Response of GET /api/v1/freezes. */
export const freezesSchema = z.strictObject({ items: z.array(freezeSchema) });
