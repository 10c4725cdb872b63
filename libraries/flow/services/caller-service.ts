import type { z } from 'zod';
import { PortError } from '../engine/flow-error.ts';
import type { PortCall } from '../engine/ports.ts';

type Headers = Readonly<Record<string, string>>;

/** A service that acts for the caller of a run. */
export type CallerService = {
  /** Origin of the service. */
  readonly url: URL;
  /** Returns headers that identify the caller of a run; they come only from facts of the platform. @throws PortError */
  readonly identity: (call: PortCall) => Headers | Promise<Headers>;
};

/** @throws PortError answer_invalid if an answer does not follow the contract */
export function readServiceAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (!read.success) throw new PortError('answer_invalid');
  return read.data;
}
