import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { Bundle } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';
import type { Stage } from '#contracts/policy';
import { contextHeaders } from '#contracts/profiles';
import { createLogger } from '#kit/log/logger';
import type { TraceExport } from '#kit/trace/export-spans';
import { createRuntime, type RuntimeOverrides } from '../service.ts';

export const testServiceToken = 'service-token-of-the-tests';
export const providerKey = 'provider-key-of-the-tests';

export type RuntimeResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // The body as JSON, from which tests read any member.
  readonly json: Json;
};
type Json = { readonly [key: string]: Json } & { readonly action?: Json; readonly code?: string };

/** `undefined` leaves a header out, a list sends it several times. */
export type HeaderChanges = Readonly<Record<string, string | readonly string[] | undefined>>;

export type TestRuntime = AsyncDisposable & {
  readonly url: string;
  readonly folder: string;
  readonly digest: string;
  /** Returns the text that the runtime has logged up to now. */
  readonly log: () => string;
  /** The headers of a good check of the first policy, changed. */
  readonly headers: (changes?: HeaderChanges) => string[];
  /** Checks contents, each as one message or answer variant of a user. */
  readonly check: (stage: Stage, contents: readonly string[], changes?: HeaderChanges) => Promise<RuntimeResponse>;
  /** Posts any body with the headers of a good check, changed. */
  readonly post: (path: string, body: string | Buffer, changes?: HeaderChanges) => Promise<RuntimeResponse>;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<RuntimeResponse>;
  /**
   * The value of the series in /metrics whose line begins with the name and contains all labels; 0 if there is none.
   */
  readonly metric: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
};

/** Starts a runtime in this process with a bundle and waits until the bundle is loaded. */
export async function startRuntime(
  bundle: Bundle,
  options: RuntimeOverrides & { readonly text?: string | Buffer; readonly traces?: TraceExport } = {},
): Promise<TestRuntime> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-runtime-'));
  const lines: string[] = [];
  writeFileSync(join(folder, 'bundle.json'), options.text ?? JSON.stringify(bundle));
  writeFileSync(join(folder, 'token'), `${testServiceToken}\n`);
  writeFileSync(join(folder, 'provider.key'), `${providerKey}\n`);
  const logger = createLogger({
    service: 'runtime',
    level: 'debug',
    destination: { write: (line) => lines.push(line) },
  });
  const runtime = await createRuntime(
    {
      listen: { host: '127.0.0.1', port: 0 },
      bundleFile: join(folder, 'bundle.json'),
      terminationMessageFile: join(folder, 'termination'),
      traces: options.traces,
    },
    { tokenFile: join(folder, 'token'), secretsDirectory: folder },
    { logger, refusalMs: 0, idleMs: 0, ...options },
  );
  const agent = new Agent({ connections: 300 });
  const client = createRuntimeClient(runtime.url, agent, bundle);
  async function dispose(): Promise<void> {
    await runtime[Symbol.asyncDispose]();
    await agent.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
  try {
    await runtime.loaded(new AbortController().signal);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { ...client, url: runtime.url, folder, log: () => lines.join(''), [Symbol.asyncDispose]: dispose };
}

/** Calls a runtime at a URL as a client of the first policy of a bundle would. */
export function createRuntimeClient(
  url: string,
  agent: Agent,
  bundle: Bundle,
): Pick<TestRuntime, 'digest' | 'headers' | 'check' | 'post' | 'get' | 'metric'> {
  const digest = digestOf(bundle);
  const headers = (changes: HeaderChanges = {}): string[] => flatten({ ...goodHeaders(bundle, digest), ...changes });

  async function send(
    method: 'GET' | 'POST',
    path: string,
    list: string[],
    body?: string | Buffer,
  ): Promise<RuntimeResponse> {
    const answer = await request(`${url}${path}`, { dispatcher: agent, method, headers: list, body: body ?? null });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: parsed(text) };
  }

  async function get(path: string, list: Readonly<Record<string, string>> = {}): Promise<RuntimeResponse> {
    return send('GET', path, flatten(list));
  }

  return {
    digest,
    headers,
    check: (stage, contents, changes) => send('POST', `/${stage}`, headers(changes), checkText(stage, contents)),
    post: (path, body, changes) => send('POST', path, headers(changes), body),
    get,
    async metric(name, labels = {}) {
      const { text } = await get('/metrics', { authorization: `Bearer ${testServiceToken}` });
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const line = text
        .split('\n')
        .find((row) => row.startsWith(`${name}{`) && wanted.every((pair) => row.includes(pair)));
      return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ') + 1));
    },
  };
}

/** The body of a check with one message of a user, or one answer variant of an assistant, for each content. */
export function checkText(stage: Stage, contents: readonly string[]): string {
  return stage === 'request'
    ? JSON.stringify({ body: { messages: contents.map((content) => ({ role: 'user', content })) } })
    : JSON.stringify({ body: { choices: contents.map((content) => ({ message: { role: 'assistant', content } })) } });
}

export function goodHeaders(bundle: Bundle, digest: string): HeaderChanges {
  const [policy] = bundle.policies;
  return {
    authorization: `Bearer ${testServiceToken}`,
    'content-type': 'application/json',
    [contextHeaders.policyId]: policy?.id,
    [contextHeaders.policyRevision]: policy?.revision,
    [contextHeaders.bundleDigest]: digest,
    [contextHeaders.contentProfile]: bundle.contentProfile,
    [contextHeaders.responseMode]: 'buffered',
  };
}

function flatten(headers: HeaderChanges): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return typeof value === 'string' ? [name, value] : value.flatMap((one) => [name, one]);
  });
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {} as Json;
  }
}
