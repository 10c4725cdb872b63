import { join } from 'node:path';
import { detectorContract } from '#contracts/policy';
import { startFollowed } from '#kit/testing/start-followed';
import { until } from '#kit/testing/until';
import { root } from '../../hack/check/run-tool.ts';

type Asked = { readonly stage?: string; readonly schema?: string; readonly token?: string };

type Detector = AsyncDisposable & {
  /** The address that a provider names. */
  readonly endpoint: string;
  readonly output: () => string;
  /** Returns the status and the body of the answer for one text. */
  readonly ask: (content: string, asked?: Asked) => Promise<readonly [number, unknown]>;
};

type DetectorOptions = {
  /** Path of the Python interpreter; that of the machine if absent. */
  readonly python?: string;
  /** Token that the adapter accepts. */
  readonly token: string;
  readonly environment?: Readonly<Record<string, string>>;
};

/** Large libraries are imported before an adapter listens. */
const startMs = 600_000;

/** Starts an adapter of examples/detectors on a free port and waits until it listens. */
export async function startDetector(file: string, options: DetectorOptions): Promise<Detector> {
  const { python = 'python3', token: accepted, environment } = options;
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', DETECTOR_TOKEN: accepted, ...environment };
  const child = startFollowed([python, join(root, 'examples/detectors', file), '0'], { cwd: root, env });
  const address = (): string | undefined => /http:\/\/\S+\/check/.exec(child.output())?.[0];
  await until(`${file} listens`, () => child.hasEnded() || address() !== undefined, { deadlineMs: startMs });
  const endpoint = address();
  if (endpoint === undefined) throw new Error(`${file} ended before it listened: ${child.output().slice(-2_000)}`);
  return {
    endpoint,
    output: child.output,
    async ask(content, { stage = 'request', schema = detectorContract, token = accepted } = {}) {
      const answer = await fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ schema, stage, messages: [{ role: 'user', content }] }),
      });
      return [answer.status, await answer.json()];
    },
    [Symbol.asyncDispose]: async () => void (await child.end('SIGTERM')),
  };
}
