import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createAuthority } from '../../hack/cluster/certificates/authority.ts';
import { createNatsQueue } from '../../libraries/queue/adapters/nats/nats-queue.ts';
import type { NatsOptions } from '../../libraries/queue/adapters/nats/nats-stream.ts';
import { QueueUnavailableError } from '../../libraries/queue/queue-error.ts';
import { hintQueueSuite } from '../../libraries/queue/testing/hint-queue-suite.ts';
import { verifies } from '../support/verifies.ts';
import { natsProgram, startNats } from './nats-server.ts';

const queueAt = (url: string, options: Partial<NatsOptions> = {}) =>
  createNatsQueue({ servers: [url], stream: 'hints', clientName: 'test', ...options });

/** Writes the file that the server reads at its start. */
function configFile(folder: string, text: string): string {
  const path = join(folder, 'nats.conf');
  writeFileSync(path, text);
  return path;
}

test('a queue without a NATS server is unavailable', async () => {
  await using queue = queueAt('nats://127.0.0.1:1');
  await expect(queue.publish('jobs')).rejects.toBeInstanceOf(QueueUnavailableError);
  await expect(queue.subscribe('jobs', () => undefined)).rejects.toBeInstanceOf(QueueUnavailableError);
});

describe.skipIf(natsProgram.missing !== undefined)(natsProgram.on('a queue in NATS'), () => {
  hintQueueSuite(async () => {
    const folder = temporaryFolder();
    let server = await startNats({ folder: folder.path });
    const { port, url } = server;
    return {
      connect: async () => queueAt(url),
      async breakConnections() {
        await server.end();
        server = await startNats({ folder: folder.path, port });
      },
      async [Symbol.asyncDispose]() {
        await server.end();
        folder[Symbol.dispose]();
      },
    };
  });

  test('a hint published to NATS is kept for a later subscriber', async () => {
    using folder = temporaryFolder();
    const server = await startNats({ folder: folder.path });
    await using publisher = queueAt(server.url);
    await publisher.publish('jobs');
    await server.end();
    await using _again = await startNats({ folder: folder.path, port: server.port });
    await using queue = queueAt(server.url);
    const seen = Promise.withResolvers<void>();
    await queue.subscribe('jobs', seen.resolve);
    await seen.promise;
  });

  test('a NATS server that restarts without its streams delivers hints again', async () => {
    using folder = temporaryFolder();
    const server = await startNats({ folder: folder.path });
    await using queue = queueAt(server.url);
    await using publisher = queueAt(server.url);
    let calls = 0;
    await queue.subscribe('jobs', () => {
      calls += 1;
    });
    for (let hint = 0; hint < 5; hint += 1) await publisher.publish('jobs');
    await until('hints arrive', () => calls > 0);
    await server.end();
    rmSync(join(folder.path, 'streams'), { recursive: true });
    await using _again = await startNats({ folder: folder.path, port: server.port });
    await until('a hint is published', () => publisher.publish('jobs').then(() => true));
    const before = calls;
    await until('hints arrive', async () => {
      await publisher.publish('jobs');
      return calls > before + 3;
    });
  });

  test('while a NATS server is suspended publishing fails, and hints arrive after it resumes', async () => {
    using folder = temporaryFolder();
    await using server = await startNats({ folder: folder.path });
    await using queue = queueAt(server.url);
    let calls = 0;
    await queue.subscribe('jobs', () => {
      calls += 1;
    });
    server.child.kill('SIGSTOP');
    // Threads of the server stop one after another; a thread that still runs can still answer.
    const refusal = await until('publishing fails', () =>
      queue.publish('jobs').then(
        () => false,
        (error) => error,
      ),
    );
    expect(refusal).toBeInstanceOf(QueueUnavailableError);
    server.child.kill('SIGCONT');
    await until('a hint is published', () => queue.publish('jobs').then(() => true));
    await until('it arrives', () => calls > 0);
  });

  test('a NATS queue can be disposed while its server is unavailable', async () => {
    using folder = temporaryFolder();
    const server = await startNats({ folder: folder.path });
    const queue = queueAt(server.url);
    await queue.subscribe('jobs', () => undefined);
    await server.end();
    await queue[Symbol.asyncDispose]();
    await expect(queue.publish('jobs')).rejects.toBeInstanceOf(QueueUnavailableError);
  });

  test('a rotated NATS password takes effect at the next connection, and without a usable file the last one is sent', async () => {
    using folder = temporaryFolder();
    const withPassword = (password: string) =>
      `authorization { user: portcullis, password: ${JSON.stringify(password)} }`;
    const start = (password: string, port?: number) =>
      startNats({
        folder: folder.path,
        args: ['--config', configFile(folder.path, withPassword(password))],
        ...(port === undefined ? {} : { port }),
      });
    const server = await start('hunter1');
    const file = join(folder.path, 'password');
    const credentials = { kind: 'password', user: 'portcullis', file } as const;
    writeFileSync(file, 'wrong\n');
    {
      await using wrong = queueAt(server.url, { credentials });
      const refused = wrong.publish('jobs');
      await expect(refused).rejects.toBeInstanceOf(QueueUnavailableError);
      await expect(refused).rejects.not.toThrow('wrong');
    }
    writeFileSync(file, 'hunter1\n');
    await using queue = queueAt(server.url, { credentials });
    let calls = 0;
    await queue.subscribe('jobs', () => {
      calls += 1;
    });
    await server.end();
    rmSync(file);
    const same = await start('hunter1', server.port);
    await until('a hint is published', () => queue.publish('jobs').then(() => true));
    await same.end();
    await using _rotated = await start('hunter2', server.port);
    await expect(queue.publish('jobs')).rejects.toBeInstanceOf(QueueUnavailableError);
    writeFileSync(file, 'hunter2');
    const before = calls;
    await until('a hint is published', () => queue.publish('jobs').then(() => true));
    await until('it arrives', () => calls > before);
  });

  verifies(
    ['retrieval:integration:no-queue-write'],
    'a hint that is published directly is refused without the credential of the service, also with the token of an integration',
    async () => {
      using folder = temporaryFolder();
      await using server = await startNats({ folder: folder.path, args: ['--auth', 'hunter2'] });
      const file = join(folder.path, 'token');
      writeFileSync(file, 'a.b.c\n');
      await using nameless = queueAt(server.url);
      await using integration = queueAt(server.url, { credentials: { kind: 'token', file } });
      for (const queue of [nameless, integration]) {
        await expect(queue.publish('jobs')).rejects.toBeInstanceOf(QueueUnavailableError);
      }
    },
  );

  test('a queue whose credential file is missing is unavailable until the file is there', async () => {
    using folder = temporaryFolder();
    const args = ['--auth', 'hunter2'];
    await using server = await startNats({ folder: folder.path, args });
    const file = join(folder.path, 'token');
    await using queue = queueAt(server.url, { credentials: { kind: 'token', file } });
    await expect(queue.publish('jobs')).rejects.toBeInstanceOf(QueueUnavailableError);
    writeFileSync(file, 'hunter2\n');
    await queue.publish('jobs');
  });

  test('a queue connects to a TLS server with a certificate of its configured authority, and to no other server', async () => {
    using folder = temporaryFolder();
    const authority = createAuthority();
    const { certificate, key } = authority.issueServer({ commonName: 'nats' }, ['localhost']);
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder.path, name), text);
      return join(folder.path, name);
    };
    const args = ['--tls', `--tlscert=${write('tls.crt', certificate)}`, `--tlskey=${write('tls.key', key)}`];
    await using server = await startNats({ folder: folder.path, args });
    // The driver checks a certificate against a host name only.
    const url = `tls://localhost:${server.port}`;
    await using queue = queueAt(url, { tls: { caFile: write('ca.crt', authority.certificate) } });
    await queue.publish('jobs');
    await using other = queueAt(url, { tls: { caFile: write('other.crt', createAuthority().certificate) } });
    await expect(other.publish('jobs')).rejects.toBeInstanceOf(QueueUnavailableError);
  });

  test('a queue that requires TLS sends nothing to a server without TLS', async () => {
    using folder = temporaryFolder();
    await using server = await startNats({ folder: folder.path });
    await using queue = queueAt(server.url.replace('nats:', 'tls:'));
    await expect(queue.publish('jobs')).rejects.toBeInstanceOf(QueueUnavailableError);
  });
});
