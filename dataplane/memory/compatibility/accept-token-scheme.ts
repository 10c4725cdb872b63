import type { CallerAuthorizer } from '#identity/tenant-caller';

/** The scheme with which clients of the compatible routes send a token (RFC 9110, section 11.4). */
const tokenScheme = /^Token +(?=[A-Za-z0-9._~+/-]+=*$)/i;

/** Reads `Authorization: Token …` as `Bearer …`; the token itself is verified as usual. */
export function acceptTokenScheme(authorizer: CallerAuthorizer): CallerAuthorizer {
  return {
    authorize: (rawHeaders) =>
      authorizer.authorize(
        rawHeaders.map((text, at) =>
          at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'authorization'
            ? text.replace(tokenScheme, 'Bearer ')
            : text,
        ),
      ),
  };
}
