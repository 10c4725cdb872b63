import { InvalidArgumentError } from 'commander';

/** Parses the name of an entry of served-policies.yaml, which is the name of a file. */
export function servedPolicyName(text: string): string {
  if (text.length <= 40 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a name in served-policies.yaml, for example documents.');
}
