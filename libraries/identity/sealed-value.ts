import { EncryptJWT, jwtDecrypt } from 'jose';
import { type Clock, systemClock } from '#kit/time/clock';

/** Encrypts values that a browser keeps and must neither read nor change (RFC 7516, `dir` with A256GCM). */
type Sealer = {
  /** @param expiresAt the value is refused from then on */
  seal(value: Readonly<Record<string, unknown>>, expiresAt: Date): Promise<string>;
  /**
   * Opens a sealed text; undefined for a text that was not sealed with this key and for this purpose, or that has
   * expired.
   */
  open(text: string): Promise<Readonly<Record<string, unknown>> | undefined>;
};

/**
 * @param key 32 bytes
 * @param purpose a value that was sealed for one purpose cannot be opened for another
 */
export function createSealer(key: Uint8Array, purpose: string, clock: Clock = systemClock): Sealer {
  return {
    seal: (value, expiresAt) =>
      new EncryptJWT({ value })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: purpose })
        .setExpirationTime(Math.floor(expiresAt.getTime() / 1_000))
        .encrypt(key),
    async open(text) {
      try {
        const { payload } = await jwtDecrypt(text, key, {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          typ: purpose,
          requiredClaims: ['exp'],
          currentDate: clock.date(),
          clockTolerance: 0,
        });
        const { value } = payload;
        return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
