/** The development issuer of a standalone platform, as its tokens and those who take them name it. */
export const developmentIssuer = {
  issuer: 'http://issuer.portcullis.localhost',
  audience: 'portcullis',
} as const;
