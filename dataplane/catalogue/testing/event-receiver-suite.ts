import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { CloudEvent, EventReceiver } from '../events/ports.ts';

/** A receiver of events under test. It refuses events of more than 1,500 bytes. */
type ReceiverUnderTest = AsyncDisposable & {
  /** A client of the place; the suite disposes it. */
  connect(): EventReceiver;
  /** The received events, in order; an event that was received twice may be listed twice. */
  received(): Promise<readonly CloudEvent[]>;
  stop(): Promise<void>;
  /** Starts the receiver again after a stop, with the events that it had received. */
  start(): Promise<void>;
};

export const sentEvent = (agentId: string, sequence: number, change: Partial<CloudEvent> = {}): CloudEvent => ({
  specversion: '1.0',
  id: randomUUID(),
  source: '/test',
  type: 'dev.portcullis.catalogue.agent.activated',
  subject: agentId,
  time: '2026-11-27T08:00:00.000Z',
  datacontenttype: 'application/json',
  sequence: String(sequence),
  data: { agentId, versionId: null },
  ...change,
});

/** The obligations of every adapter of the port EventReceiver. */
export function eventReceiverSuite(open: () => Promise<ReceiverUnderTest>): void {
  const { signal } = new AbortController();

  describe('a receiver of events', () => {
    test('events arrive unchanged and in the order of their delivery', async () => {
      await using place = await open();
      await using receiver = place.connect();
      const [one, other] = [randomUUID(), randomUUID()];
      const sent = [sentEvent(one, 1), sentEvent(other, 1), sentEvent(one, 2), sentEvent(one, 3), sentEvent(other, 2)];
      for (const event of sent) expect(await receiver.deliver(event, signal)).toBe('delivered');
      expect(await place.received()).toEqual(sent);
    });

    test('an event that is delivered twice has one id, so that a receiver can drop the second delivery', async () => {
      await using place = await open();
      await using receiver = place.connect();
      await using another = place.connect();
      const event = sentEvent(randomUUID(), 1);
      for (const from of [receiver, another, receiver]) expect(await from.deliver(event, signal)).toBe('delivered');
      const arrived = await place.received();
      expect([arrived[0], new Set(arrived.map(({ id }) => id)).size]).toEqual([event, 1]);
    });

    test('while the receiver is unavailable a delivery fails, and afterwards the same client delivers', async () => {
      await using place = await open();
      await using receiver = place.connect();
      const agentId = randomUUID();
      const [first, second] = [sentEvent(agentId, 1), sentEvent(agentId, 2)];
      expect(await receiver.deliver(first, signal)).toBe('delivered');
      await place.stop();
      expect(await receiver.deliver(second, signal)).toBe('failed');
      await place.start();
      await until('it is delivered', async () => (await receiver.deliver(second, signal)) === 'delivered');
      const arrived = new Map((await place.received()).map((event) => [event.id, event]));
      expect([...arrived.values()]).toEqual([first, second]);
    });

    test('an event that the receiver always refuses is refused, and others are delivered', async () => {
      await using place = await open();
      await using receiver = place.connect();
      const agentId = randomUUID();
      expect(await receiver.deliver(sentEvent(agentId, 1), signal)).toBe('delivered');
      const refused = sentEvent(agentId, 2, { source: `/${'x'.repeat(2_000)}` });
      expect(await receiver.deliver(refused, signal)).toBe('refused');
      expect(await receiver.deliver(sentEvent(agentId, 3), signal)).toBe('delivered');
      expect((await place.received()).map(({ sequence }) => sequence)).toEqual(['1', '3']);
    });

    test('an aborted delivery fails and never rejects', async () => {
      await using place = await open();
      await using receiver = place.connect();
      const event = sentEvent(randomUUID(), 1);
      expect(await receiver.deliver(event, AbortSignal.abort())).toBe('failed');
      await place.stop();
      const stop = new AbortController();
      const delivery = receiver.deliver(event, stop.signal);
      stop.abort();
      expect(await delivery).toBe('failed');
    });
  });
}
