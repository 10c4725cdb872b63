import { memoryLimits } from '#contracts/memory';

/** Visible ASCII characters. */
export const idempotencyKeyForm = new RegExp(`^[\\x21-\\x7e]{1,${memoryLimits.key}}$`);
