import type { z } from 'zod';
import { PortError } from '../engine/flow-error.ts';
import type { PortCall } from '../engine/ports.ts';

/** A service that acts for the caller of a run. */
export type CallerService = {
  /** Origin of the service. */
  readonly url: URL;
  /** Headers that name the caller of a run, from its context and nothing else. */
  readonly identity: (call: PortCall) => Readonly<Record<string, string>>;
};

/** @throws PortError answer_invalid if an answer is not the one of the contract */
export function readServiceAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (!read.success) throw new PortError('answer_invalid');
  return read.data;
}
