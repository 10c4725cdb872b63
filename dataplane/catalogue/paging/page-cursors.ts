import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { catalogueLimits } from '#contracts/catalogue';
import type { TokenFile } from '#kit/http/token-file';
import type { Clock } from '#kit/time/clock';

/** Everything that a cursor is bound to: the version of the API, the caller and every filter, present or absent. */
export type CursorBinding = readonly unknown[];

export type PageCursors = {
  /** @param after the id of the last agent of the page */
  write(after: string, binding: CursorBinding): string;
  /**
   * The id after which the page begins; undefined for a text that is not a cursor of this key for this binding, or whose
   * time has passed.
   */
  read(text: string, binding: CursorBinding): string | undefined;
};

const cipher = 'aes-256-gcm';
const label = 'portcullis catalogue cursor 1';
const [nonceBytes, idBytes, timeBytes, tagBytes] = [12, 16, 6, 16];
const cursorBytes = nonceBytes + idBytes + timeBytes + tagBytes;

/**
 * Cursors in authenticated encryption: AES-256-GCM with a random nonce, a key derived from the secret by HKDF (RFC
 * 5869) and the binding as additional data. All have one length. The first word of the file is the secret; the cursors
 * of a former secret are invalid immediately (`catalogue:cursor:*`).
 */
export function createPageCursors(secret: Pick<TokenFile, 'first'>, clock: Pick<Clock, 'date'>): PageCursors {
  const keyOf = (): Buffer => Buffer.from(hkdfSync('sha256', secret.first(), '', label, 32));
  const seconds = (): number => Math.floor(clock.date().getTime() / 1_000);
  return {
    write(after, binding) {
      const nonce = randomBytes(nonceBytes);
      const encryption = createCipheriv(cipher, keyOf(), nonce).setAAD(dataOf(binding));
      const content = Buffer.alloc(idBytes + timeBytes);
      content.write(after.replaceAll('-', ''), 'hex');
      content.writeUIntBE(seconds() + catalogueLimits.cursorSeconds, idBytes, timeBytes);
      return Buffer.concat([nonce, encryption.update(content), encryption.final(), encryption.getAuthTag()]).toString(
        'base64url',
      );
    },
    read(text, binding) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length !== cursorBytes || bytes.toString('base64url') !== text) return undefined;
      const content = decrypted(bytes, keyOf(), binding);
      if (content === undefined || content.readUIntBE(idBytes, timeBytes) <= seconds()) return undefined;
      const id = content.toString('hex', 0, idBytes);
      return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
  };
}

function decrypted(bytes: Buffer, key: Buffer, binding: CursorBinding): Buffer | undefined {
  const decryption = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decryption.setAAD(dataOf(binding)).setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([decryption.update(bytes.subarray(nonceBytes, -tagBytes)), decryption.final()]);
  } catch {
    return undefined;
  }
}

function dataOf(binding: CursorBinding): Buffer {
  return Buffer.from(JSON.stringify(binding));
}
