import { parse } from 'hono/utils/cookie';
import { createSealer } from '#identity/sealed-value';
import { type PersonSession, readAttempt, readSession, type SignInAttempt } from './session.ts';

/** Browsers keep cookies of at most 4,096 bytes with their name and attributes, so a long session is in several. */
const partBytes = 3_500;
const mostParts = 6;
const attemptSeconds = 600;
/**
 * Number of cookies for sign-ins in progress. The state of a sign-in selects one of them, so that the pages of several
 * tabs can sign in at the same time.
 */
const attemptSlots = 16;

/** The token of a session is too long for cookies. */
export class SessionTooLongError extends Error {}

export type Cookies = {
  session(header: string | undefined): Promise<PersonSession | undefined>;
  /** @param state the state of the answer; the attempt has its own, which must be equal */
  attempt(header: string | undefined, state: string): Promise<SignInAttempt | undefined>;
  /**
   * Values of Set-Cookie: they store the session, and delete those parts of an earlier, longer session that the request
   * has. Proxies limit the size of the headers of an answer, some to 4 KB.
   * @throws SessionTooLongError
   */
  keep(session: PersonSession, header?: string): Promise<readonly string[]>;
  begin(attempt: SignInAttempt): Promise<readonly string[]>;
  /** Removes the attempt of a state. */
  settle(state: string): readonly string[];
  /** Removes the session. */
  forget(): readonly string[];
};

/**
 * Sessions and sign-ins in progress as encrypted cookies. On https their names have the prefix `__Host-`: no other host and
 * no page without TLS can set them. Browsers send cookies to every port of a host, so that on loopback the name has the port.
 */
export function createCookies(key: Uint8Array, origin: string): Cookies {
  const { protocol, port } = new URL(origin);
  const isSecure = protocol === 'https:';
  const prefix = isSecure ? '__Host-portcullis' : `portcullis-${port}`;
  const names = { session: `${prefix}-session`, attempt: `${prefix}-sign-in` };
  const attemptName = (state: string): string => `${names.attempt}-${(state.codePointAt(0) ?? 0) % attemptSlots}`;
  const sealers = { session: createSealer(key, 'console-session'), attempt: createSealer(key, 'console-sign-in') };

  function set(name: string, value: string, seconds: number): string {
    const secure = isSecure ? '; Secure' : '';
    return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`;
  }
  const partName = (at: number): string => `${names.session}-${at}`;

  return {
    async session(header) {
      if (header === undefined) return undefined;
      const found = parse(header);
      const parts = Array.from({ length: mostParts }, (_, at) => found[partName(at)] ?? '');
      return readSession(await sealers.session.open(parts.join('')));
    },
    async attempt(header, state) {
      if (header === undefined) return undefined;
      const name = attemptName(state);
      return readAttempt(await sealers.attempt.open(parse(header, name)[name] ?? ''));
    },
    async keep(session, header) {
      const held = parse(header ?? '');
      const seconds = Math.max(1, session.expiresAt - Math.floor(Date.now() / 1_000));
      const sealed = await sealers.session.seal(session, new Date(session.expiresAt * 1_000));
      if (sealed.length > partBytes * mostParts) throw new SessionTooLongError('the access token is too long');
      return Array.from({ length: mostParts }, (_, at) => at).flatMap((at) => {
        const part = sealed.slice(at * partBytes, (at + 1) * partBytes);
        if (part === '' && held[partName(at)] === undefined) return [];
        return [set(partName(at), part, part === '' ? 0 : seconds)];
      });
    },
    async begin(attempt) {
      const until = new Date(Date.now() + attemptSeconds * 1_000);
      return [set(attemptName(attempt.state), await sealers.attempt.seal(attempt, until), attemptSeconds)];
    },
    settle: (state) => [set(attemptName(state), '', 0)],
    forget: () => Array.from({ length: mostParts }, (_, at) => set(partName(at), '', 0)),
  };
}
