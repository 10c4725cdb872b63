import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** A key in the file of the gateway, as docs/call-an-agent.md describes it. */
type FiledKey = { readonly pem: string; readonly signsFrom?: string; readonly signsUntil?: string };

/**
 * Puts a new key at the front of the gateway's key file, as an administrator does; the new key replaces the others at
 * the given time.
 */
export function rotateGatewayKeys(path: string, at: Date): void {
  const { keys } = JSON.parse(readFileSync(path, 'utf8')) as { readonly keys: readonly FiledKey[] };
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signsFrom = at.toISOString();
  const earlier = keys.map((key) => ({ ...key, signsUntil: key.signsUntil ?? signsFrom }));
  // A process that reads the file meanwhile gets the old or the new content, as with a mounted secret.
  writeFileSync(`${path}.next`, JSON.stringify({ keys: [{ pem, signsFrom }, ...earlier] }));
  renameSync(`${path}.next`, path);
}
