import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

/** Reads an address as if it had the given host, which fetch does not allow. */
export async function askAs(
  host: string,
  url: string,
): Promise<{ readonly status: number | undefined; readonly location: string | undefined }> {
  const [answer] = (await once(get(url, { headers: { host } }), 'response')) as [IncomingMessage];
  answer.resume();
  return { status: answer.statusCode, location: answer.headers.location };
}
