import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { CloudEvent } from '../../dataplane/catalogue/events/ports.ts';

type StreamMessage = { readonly subject: string; readonly event: CloudEvent };

/** Every event of a stream, in its order. */
export async function streamMessages(url: string, stream: string): Promise<readonly StreamMessage[]> {
  const connection = await connect({ servers: url });
  try {
    const { streams } = await jetstreamManager(connection);
    const { messages } = (await streams.info(stream)).state;
    const consumer = await jetstream(connection).consumers.get(stream, {});
    const found: StreamMessage[] = [];
    for (let at = 0; at < messages; at += 1) {
      const message = await consumer.next();
      if (message !== null) found.push({ subject: message.subject, event: message.json<CloudEvent>() });
    }
    return found;
  } finally {
    await connection.close();
  }
}
