import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { writeAtomic } from '#kit/files/write-atomic';

/** Letters and digits that cannot be confused with each other. */
const alphabet = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';
/** Wrong codes after which the code is replaced: 8 characters of 30 cannot be guessed in so few. */
const mostWrong = 10;

export type OneTimeCode = {
  /** Whether the text is the code, ignoring case, spaces and hyphens. An accepted code is replaced by a new one. */
  take(text: string): Promise<boolean>;
};

/** The code of the next sign-in, in a file that only the owner of the platform can read. @throws FileWriteError */
export async function openOneTimeCode(file: string): Promise<OneTimeCode> {
  let code = '';
  let wrong = 0;
  let written = Promise.resolve();
  await replace();
  return {
    async take(text) {
      const given = text.toUpperCase().replaceAll(/[\s-]/g, '');
      if (!isEqual(given, code)) {
        wrong += 1;
        if (wrong >= mostWrong) await replace();
        return false;
      }
      await replace();
      return true;
    },
  };

  async function replace(): Promise<void> {
    code = Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
    wrong = 0;
    const line = `${code.slice(0, 4)}-${code.slice(4)}\n`;
    // The writes are made one after another: the file must not end with an older code than the accepted one.
    written = written.catch(() => undefined).then(() => writeAtomic(file, line, { mode: 0o600 }));
    await written;
  }
}

function isEqual(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
