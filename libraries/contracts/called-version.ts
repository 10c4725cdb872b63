/**
 * The header in which the gateway names the version that answers the call of an agent. A task belongs to its version: another one,
 * such as the served one while a version is on trial, does not know it. Persons do not get the header.
 */
export const calledVersionHeader = 'x-portcullis-agent-version';

/** @returns undefined for a value that is absent, repeated or of another form */
export function readCalledVersion(header: string | readonly string[] | undefined): string | undefined {
  const isId = typeof header === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(header);
  return isId ? header : undefined;
}
