import { z } from 'zod';

/**
 * How a binding serves streamed answers (docs/design/streaming.md, "The mode of a binding"): `Strict` refuses them where
 * an enforced rule cannot be judged in windows, `Allowed` serves them although such a rule may miss a match, and
 * `Refused` serves none.
 */
export const streamingModeSchema = z.enum(['Strict', 'Allowed', 'Refused']);
