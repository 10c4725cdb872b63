/** The name of the gateways of a standalone platform, in the tokens that they sign for agents. */
export const agentIssuer = 'http://gateway.portcullis.localhost';

/** The name of the command line in the file references that it signs for agents of a standalone platform. */
export const fileIssuer = 'http://files.portcullis.localhost';

/**
 * The name of the development issuer of a standalone platform, in its tokens and in the configuration of their
 * verifiers.
 */
export const developmentIssuer = {
  issuer: 'http://issuer.portcullis.localhost',
  audience: 'portcullis',
} as const;
