import { z } from 'zod';

/**
 * How a binding serves streamed answers (docs/design/streaming.md, "The mode of a binding"): `Strict` refuses them if
 * an enforced rule cannot be judged in windows, `Allowed` serves them although such a rule may miss a match, and
 * `Refused` always refuses them.
 */
export const streamingModeSchema = z.enum(['Strict', 'Allowed', 'Refused']);
