import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { unusedPort } from '#kit/testing/loopback';
import { reset, type Script, streams } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import type { Backoff } from '#kit/time/backoff';
import type { Clock } from '#kit/time/clock';
import type { GatewayReport } from '#resources/gateway-report';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { createClient, type KubeClient } from '../client/client.ts';
import { listAll } from '../client/list-all.ts';
import { sampleReport } from '../testing/sample-resources.ts';
import { json, type ScriptedServer, startScriptedServer } from '../testing/scripted-server.ts';
import { type Reflector, startReflector } from './reflector.ts';

const kind = kinds.gatewayReport;

function stored(name: string, version: number, metadata: Record<string, unknown> = {}): Stored<GatewayReport> {
  const server = { uid: `uid-${name}`, resourceVersion: String(version), generation: 1 };
  const creationTimestamp = '2026-01-01T00:00:00Z';
  return sampleReport(name, { ...server, creationTimestamp, ...metadata }) as Stored<GatewayReport>;
}

function list(items: readonly unknown[], version: number, token?: string): Script {
  const metadata = { resourceVersion: String(version), ...(token === undefined ? {} : { continue: token }) };
  return json(200, { apiVersion: 'portcullis.dev/v1alpha1', kind: 'GatewayReportList', metadata, items });
}

function event(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function bookmark(version: number): string {
  const metadata = { resourceVersion: String(version) };
  return event('BOOKMARK', { apiVersion: 'portcullis.dev/v1alpha1', kind: 'GatewayReport', metadata });
}

function status(code: number, reason: string, cause?: string): object {
  const details = cause === undefined ? {} : { causes: [{ reason: cause, message: cause }] };
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason, details };
}

type Setup = AsyncDisposable & {
  readonly server: ScriptedServer;
  readonly reflector: Reflector<GatewayReport>;
  /** `name@version` for a change, `name-` for a removal, in the order of delivery. */
  readonly changes: string[];
  readonly waits: number[];
  readonly logged: string[];
  /** Delays after failures, milliseconds. */
  readonly delays: number[];
  /** How often the reflector has reset its backoff. */
  readonly resets: () => number;
};

type SetupOptions = {
  readonly lists: readonly Script[];
  readonly watches: readonly Script[];
  readonly confirmations?: readonly Script[];
  readonly onChange?: (name: string) => void;
  readonly watchSeconds?: number;
  readonly waitMs?: number;
  readonly clock?: Clock;
  readonly relistAfterMs?: number;
};

async function setUp(options: SetupOptions): Promise<Setup> {
  const server = await startScriptedServer();
  server.script(options);
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'default' });
  const changes: string[] = [];
  const waits: number[] = [];
  const logged: string[] = [];
  const delays: number[] = [];
  let resets = 0;
  const backoff: Backoff = {
    next() {
      waits.push(options.waitMs ?? 1);
      return options.waitMs ?? 1;
    },
    reset() {
      resets += 1;
    },
  };
  const reflector = startReflector<GatewayReport>({
    client: bounded(client, options.watchSeconds),
    kind,
    backoff,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.relistAfterMs === undefined ? {} : { relistAfterMs: options.relistAfterMs }),
    indexes: { gateway: (report) => [report.spec.gateway] },
    logger: {
      info: () => {},
      warn(_event, fields) {
        logged.push(String(fields?.['code'] ?? fields?.['error']));
        if (fields?.['delayMs'] !== undefined) delays.push(Number(fields['delayMs']));
      },
    },
    onChange(name, current) {
      options.onChange?.(name);
      changes.push(current === undefined ? `${name}-` : `${name}@${current.metadata.resourceVersion}`);
    },
  });
  return {
    server,
    reflector,
    changes,
    waits,
    logged,
    delays,
    resets: () => resets,
    async [Symbol.asyncDispose]() {
      await reflector[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function bounded(client: KubeClient, timeoutSeconds: number | undefined): Pick<KubeClient, 'list' | 'watch'> {
  if (timeoutSeconds === undefined) return client;
  return { list: client.list, watch: (one, watch) => client.watch(one, { ...watch, timeoutSeconds }) };
}

test('the pages of a list appear in the store in one step', async () => {
  const { promise: release, resolve } = Promise.withResolvers<void>();
  const second: Script = async (outgoing, incoming) => {
    await release;
    await list([stored('b', 2)], 9)(outgoing, incoming);
  };
  await using one = await setUp({ lists: [list([stored('a', 1)], 9, 'more'), second], watches: [streams([])] });
  await until('the second page is requested', () => one.server.lists().length === 2);
  expect(one.reflector.store.list()).toEqual([]);
  expect(one.reflector.throughVersion()).toBe('0');
  expect(one.changes).toEqual([]);
  resolve();
  await one.reflector.synced;
  expect(one.changes).toEqual(['a@1', 'b@2']);
  expect(one.reflector.store.by('gateway', 'default').map((item) => item.metadata.name)).toEqual(['a', 'b']);
  expect(one.reflector.store.by('gateway', 'other')).toEqual([]);
  expect(one.reflector.throughVersion()).toBe('9');
  const [first, next] = one.server.lists();
  expect(Object.fromEntries(first?.query ?? [])).toEqual({ limit: '500' });
  expect(Object.fromEntries(next?.query ?? [])).toEqual({ limit: '500', continue: 'more' });
});

test('a watch starts at the version of the list, with bookmarks and a timeout', async () => {
  await using one = await setUp({ lists: [list([], 7)], watches: [streams([])] });
  const [watch] = await until('a watch', () => (one.server.watches().length > 0 ? one.server.watches() : false));
  expect(watch?.query.get('resourceVersion')).toBe('7');
  expect(watch?.query.get('allowWatchBookmarks')).toBe('true');
  expect(Number(watch?.query.get('timeoutSeconds'))).toBeGreaterThanOrEqual(20);
  expect(Number(watch?.query.get('timeoutSeconds'))).toBeLessThanOrEqual(25);
});

test('a list whose page token expired starts again, and after the second time it is requested in one response', async () => {
  const gone = json(410, status(410, 'Expired'));
  const [first, second] = [list([stored('a', 1)], 5, 'old'), list([stored('b', 6)], 8, 'older')];
  await using one = await setUp({
    lists: [first, gone, second, gone, list([stored('c', 9)], 9)],
    watches: [streams([])],
  });
  await one.reflector.synced;
  expect(one.changes).toEqual(['c@9']);
  const asked = one.server.lists().map(({ query }) => `${query.get('limit')} ${query.get('continue')}`);
  expect(asked).toEqual(['500 null', '500 old', '500 null', '500 older', 'null null']);
  expect(one.reflector.throughVersion()).toBe('9');
});

test('kinds with large objects are listed in small pages', async () => {
  await using server = await startScriptedServer();
  const empty = {
    apiVersion: 'portcullis.dev/v1alpha1',
    kind: 'GuardrailPolicyList',
    metadata: { resourceVersion: '1' },
  };
  server.script({ lists: [json(200, { ...empty, items: [] })] });
  await using client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'default' });
  await listAll(client, kinds.guardrailPolicy);
  expect(server.lists()[0]?.query.get('limit')).toBe('20');
});

test('the store and the change handler see the transformed object', async () => {
  const seen: (Stored<GatewayReport> | undefined)[] = [];
  await using server = await startScriptedServer();
  server.script({
    lists: [list([stored('a', 1)], 10)],
    watches: [streams([event('ADDED', stored('b', 11)), event('DELETED', stored('a', 12))])],
  });
  await using client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'default' });
  await using reflector = startReflector<GatewayReport>({
    client,
    kind,
    logger: { info() {}, warn() {} },
    transform: (report) => ({ ...report, spec: { ...report.spec, gateway: 'left out' } }),
    indexes: { gateway: (report) => [report.spec.gateway] },
    onChange: (_name, current, previous) => void seen.push(current ?? previous),
  });
  await until('the events', () => reflector.throughVersion() === '12');
  expect(seen.map((report) => report?.spec.gateway)).toEqual(['left out', 'left out', 'left out']);
  expect(reflector.store.by('gateway', 'left out').map(({ metadata }) => metadata.name)).toEqual(['b']);
});

test('events are decoded independently of chunk boundaries', async () => {
  const text = event('ADDED', stored('ü', 11)) + event('MODIFIED', stored('ü', 12)) + event('ADDED', stored('b', 13));
  const bytes = Buffer.from(text + event('DELETED', stored('b', 14)));
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.subarray(at * 7, at * 7 + 7));
  for (const chunks of [[bytes], pieces]) {
    await using one = await setUp({ lists: [list([], 10)], watches: [streams(chunks)] });
    await until('the last event', () => one.reflector.throughVersion() === '14');
    expect(one.changes).toEqual(['ü@11', 'ü@12', 'b@13', 'b-']);
    expect(one.reflector.store.size).toBe(1);
    expect(one.server.lists()).toHaveLength(1);
  }
});

test('a bookmark advances the version, counts as contact, and is where the next watch starts', async () => {
  const begun = performance.now();
  await using one = await setUp({
    lists: [list([stored('a', 1)], 10)],
    watches: [streams([bookmark(20), bookmark(30)], 'reset'), streams([])],
  });
  await until('the second watch', () => one.server.watches().length === 2);
  expect(one.reflector.throughVersion()).toBe('30');
  expect(one.server.watches()[1]?.query.get('resourceVersion')).toBe('30');
  expect(one.changes).toEqual(['a@1']);
  expect(one.reflector.lastContact()).toBeGreaterThan(begun);
});

test('a complete list, a bookmark and a watch that ends at its time make the store current, and no other event does', async () => {
  const begun = performance.now();
  const second = json(500, status(500, 'InternalError'));
  await using cut = await setUp({ lists: [list([stored('a', 1)], 9, 'more'), second, second], watches: [] });
  await until('a page was read', () => cut.reflector.lastContact() > begun && cut.waits.length > 0);
  expect(cut.reflector.currentAt()).toBe(Number.NEGATIVE_INFINITY);

  const failing = Array.from({ length: 3 }, () => streams([event('ADDED', stored('b', 11))], 'reset'));
  await using one = await setUp({ lists: [list([], 10)], watches: failing });
  await one.reflector.synced;
  const listed = one.reflector.currentAt();
  expect(listed).toBeGreaterThan(begun);
  await until('the watches have failed', () => one.waits.length >= 3);
  expect(one.reflector.lastContact()).toBeGreaterThan(listed);
  expect(one.reflector.currentAt()).toBe(listed);

  await using two = await setUp({ lists: [list([], 10)], watches: [streams([bookmark(20)])] });
  await until('the bookmark', () => two.reflector.throughVersion() === '20');
  expect(two.reflector.currentAt()).toBeGreaterThanOrEqual(two.reflector.lastContact());

  const clock = createFakeClock();
  const full: Script = (outgoing, incoming) => {
    clock.advance(25_000);
    return streams([], 'end')(outgoing, incoming);
  };
  await using three = await setUp({ lists: [list([], 10)], watches: [full, streams([])], clock });
  await until('the second watch', () => three.server.watches().length === 2);
  expect(three.reflector.currentAt()).toBe(clock.now());
});

test.each([
  [30_000, 1],
  [30_001, 2],
])(
  'after an interruption of %d ms a reflector that lists again after 30,000 ms has listed %d times',
  async (ms, lists) => {
    const clock = createFakeClock();
    const cut: Script = (outgoing, incoming) => {
      clock.advance(ms);
      return streams([], 'reset')(outgoing, incoming);
    };
    await using one = await setUp({
      lists: [list([], 10), list([stored('a', 11)], 11)],
      watches: [cut, streams([bookmark(12)])],
      clock,
      relistAfterMs: 30_000,
    });
    await until('the second watch', () => one.reflector.throughVersion() === '12');
    expect(one.server.lists()).toHaveLength(lists);
  },
);

test('a watch whose version has expired leads to a new list, and each missed change is delivered once', async () => {
  const again = list([stored('kept', 2), stored('changed', 31), stored('new', 32)], 40);
  const gone = [
    streams([event('ERROR', status(410, 'Expired'))], 'end'),
    json(410, status(410, 'Expired')),
    json(504, status(504, 'Timeout', 'ResourceVersionTooLarge')),
  ];
  for (const answer of gone) {
    await using one = await setUp({
      lists: [list([stored('kept', 2), stored('changed', 3), stored('lost', 4)], 10), again],
      watches: [answer, streams([event('MODIFIED', stored('new', 41))])],
    });
    await until('the event after the second list', () => one.reflector.throughVersion() === '41');
    expect(one.changes).toEqual(['kept@2', 'changed@3', 'lost@4', 'lost-', 'changed@31', 'new@32', 'new@41']);
    expect(one.server.watches()[1]?.query.get('resourceVersion')).toBe('40');
  }
});

test('a broken watch resumes after its last event without a list', async () => {
  const half = event('ADDED', stored('b', 12)).slice(0, 40);
  const breaks: Script[] = [
    streams([event('ADDED', stored('a', 11)), half], 'end'),
    streams([event('ADDED', stored('a', 11)), half], 'reset'),
    streams([event('ADDED', stored('a', 11)), 'not json\n'], 'end'),
    streams([event('ADDED', stored('a', 11)), event('ADDED', { ...stored('b', 12), kind: 'GatewayRoute' })], 'end'),
    streams([event('ADDED', stored('a', 11)), event('ERROR', status(500, 'InternalError'))], 'end'),
  ];
  for (const broken of breaks) {
    await using one = await setUp({
      lists: [list([], 10)],
      watches: [broken, reset, json(500, status(500, 'InternalError')), streams([event('ADDED', stored('b', 12))])],
    });
    await until('the event after the failures', () => one.reflector.throughVersion() === '12');
    expect(one.changes).toEqual(['a@11', 'b@12']);
    expect(one.server.lists()).toHaveLength(1);
    expect(one.server.watches().map((watch) => watch.query.get('resourceVersion'))).toEqual(['10', '11', '11', '11']);
    expect(one.waits).toHaveLength(3);
  }
});

test('lists and watches are not retried before the Retry-After of the server', async () => {
  const busy = json(429, status(429, 'TooManyRequests'), { 'retry-after': '1' });
  await using one = await setUp({ lists: [busy, list([], 10)], watches: [busy, streams([bookmark(11)])] });
  await until('the second watch', () => one.reflector.throughVersion() === '11');
  expect(one.delays).toEqual([1_000, 1_000]);
  expect(one.server.lists()).toHaveLength(2);
  expect(one.logged).toEqual(['too_many_requests', 'too_many_requests']);
});

test('a server that was unreachable must confirm the last version, and an older server leads to a new list', async () => {
  const tooLarge = json(504, status(504, 'Timeout', 'ResourceVersionTooLarge'));
  await using one = await setUp({
    lists: [list([stored('a', 9)], 10), list([stored('b', 3)], 4)],
    watches: [reset, streams([bookmark(11)], 'end'), streams([bookmark(12)])],
    confirmations: [reset, list([], 10), tooLarge],
  });
  await until('the third watch', () => one.reflector.throughVersion() === '12');
  expect(one.changes).toEqual(['a@9', 'a-', 'b@3']);
  const asked = one.server.confirmations().map(({ query }) => query.get('resourceVersion'));
  expect(asked).toEqual(['10', '10', '11']);
  expect(one.server.confirmations()[0]?.query.get('resourceVersionMatch')).toBe('NotOlderThan');
  expect(one.server.watches().map(({ query }) => query.get('resourceVersion'))).toEqual(['10', '10', '4']);
});

test('a server whose watch ended at its timeout does not have to confirm a version', async () => {
  const clock = createFakeClock();
  const full: Script = (outgoing, incoming) => {
    const seconds = Number(new URL(incoming.path, 'http://localhost').searchParams.get('timeoutSeconds'));
    expect(seconds).toBeGreaterThanOrEqual(20);
    expect(seconds).toBeLessThanOrEqual(25);
    clock.advance(seconds * 1_000);
    return streams([bookmark(11)], 'end')(outgoing, incoming);
  };
  await using one = await setUp({ lists: [list([], 10)], watches: [full, streams([bookmark(12)])], clock });
  await until('the second watch', () => one.reflector.throughVersion() === '12');
  expect(one.server.confirmations()).toEqual([]);
});

test('a watch without changes that ends within a second is retried with backoff, and a longer watch is retried without backoff', async () => {
  const clock = createFakeClock();
  const endAfter =
    (ms: number): Script =>
    (outgoing, incoming) => {
      clock.advance(ms);
      return streams([], 'end')(outgoing, incoming);
    };
  await using one = await setUp({
    lists: [list([], 10)],
    watches: [endAfter(999), endAfter(1_000), streams([bookmark(11)])],
    clock,
  });
  await until('the third watch', () => one.reflector.throughVersion() === '11');
  expect(one.waits).toHaveLength(1);
});

test('a watch that the server does not end is aborted after its timeout and retried', async () => {
  await using one = await setUp({
    lists: [list([], 10)],
    watches: [streams([event('ADDED', stored('a', 11))]), streams([bookmark(12)])],
    watchSeconds: 1,
  });
  await until('the second watch', () => one.reflector.throughVersion() === '12');
  expect(one.logged).toEqual(['network']);
  expect(one.server.lists()).toHaveLength(1);
});

test('a reflector resumes its watch after the server was restarted', async () => {
  const server = await startScriptedServer(await unusedPort());
  server.script({ lists: [list([stored('a', 1)], 10)], watches: [streams([])] });
  await using client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'default' });
  const backoff = { next: () => 20, reset: () => {} };
  const logger = { info: () => {}, warn: () => {} };
  await using reflector = startReflector<GatewayReport>({ client, kind, backoff, logger, onChange: () => {} });
  await reflector.synced;
  await server[Symbol.asyncDispose]();
  await using second = await startScriptedServer(Number(new URL(server.url).port));
  second.script({ watches: [streams([event('DELETED', stored('a', 11))])] });
  await until('the event after the return', () => reflector.throughVersion() === '11');
  expect(reflector.store.size).toBe(0);
  expect(second.lists()).toEqual([]);
});

test('a change whose handler failed is delivered again, and the version does not advance before that', async () => {
  let refuse = true;
  await using one = await setUp({
    lists: [list([], 10), ...Array.from({ length: 100 }, () => list([stored('a', 11)], 20))],
    watches: [streams([event('ADDED', stored('a', 11))]), streams([])],
    waitMs: 50,
    onChange() {
      if (refuse) throw new TypeError('not now');
    },
  });
  await until('the second list', () => one.server.lists().length >= 2);
  expect(one.reflector.throughVersion()).toBe('10');
  refuse = false;
  await until('the delivery', () => one.reflector.throughVersion() === '20');
  expect(one.changes).toEqual(['a@11']);
  expect(one.logged).toContain('TypeError');
});

test('a reflector is synced after every object of the first list was delivered', async () => {
  let refusals = 1;
  await using one = await setUp({
    lists: [list([stored('a', 1)], 10), list([stored('a', 1)], 12)],
    watches: [streams([])],
    onChange() {
      if (refusals-- > 0) throw new TypeError('not now');
    },
  });
  await one.reflector.synced;
  expect(one.changes).toEqual(['a@1']);
  expect(one.reflector.throughVersion()).toBe('12');
});

test('managedFields are removed from objects of lists and watches', async () => {
  const managedFields = [{ manager: 'kubectl' }];
  await using one = await setUp({
    lists: [list([stored('a', 1, { managedFields })], 10)],
    watches: [streams([event('ADDED', stored('b', 11, { managedFields }))])],
  });
  await until('the event', () => one.reflector.throughVersion() === '11');
  for (const item of one.reflector.store.list()) expect(item.metadata).not.toHaveProperty('managedFields');
});

test('an idle reflector sends no request besides its one watch', async () => {
  await using one = await setUp({ lists: [list([stored('a', 1)], 10)], watches: [streams([bookmark(11)])] });
  await until('the bookmark', () => one.reflector.throughVersion() === '11');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(one.server.seen).toHaveLength(2);
});

test('synced rejects when the reflector is stopped before the first list', async () => {
  const one = await setUp({ lists: [], watches: [] });
  const synced = expect(one.reflector.synced).rejects.toMatchObject({ code: 'network' });
  await one[Symbol.asyncDispose]();
  await synced;
});

test('a watch that lasted ten seconds resets the backoff, and a shorter watch does not', async () => {
  let passedMs = 0;
  const clock: Clock = { now: () => passedMs, date: () => new Date(0) };
  const broken =
    (ms: number): Script =>
    (outgoing) => {
      passedMs += ms;
      outgoing.destroy();
    };
  await using one = await setUp({ lists: [list([], 1)], watches: [broken(9_000), broken(10_000)], clock });
  await until('the second watch ended', () => one.waits.length === 2);
  expect(one.resets()).toBe(1);
});
