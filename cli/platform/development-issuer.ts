/**
 * The name of the development issuer of a standalone platform, in its tokens and in the configuration of their
 * verifiers.
 */
export const developmentIssuer = {
  issuer: 'http://issuer.portcullis.localhost',
  audience: 'portcullis',
} as const;
