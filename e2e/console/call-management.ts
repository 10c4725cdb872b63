import { dataDirectory } from '#contracts/data-directory';
import { mintToken } from '#identity/mint-token';
import { developmentIssuer } from '../../cli/platform/development-issuer.ts';
import type { Platform } from '../support/start-platform.ts';

type ManagementCall = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Calls the management API of a platform as its administrator. @throws Error for an answer that is a refusal */
export async function callManagement(platform: Platform, call: ManagementCall): Promise<unknown> {
  const { method, path, body, headers } = call;
  const subject = platform.status().administrators?.[0]?.split('|')[1] ?? '';
  const keyFile = dataDirectory(platform.data).signingKeys;
  const token = await mintToken({ keyFile, ...developmentIssuer, subject, ttlSeconds: 60 });
  const response = await fetch(`${platform.status().addresses.management}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} was refused: ${await response.text()}`);
  return response.json();
}
