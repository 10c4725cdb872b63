import type { MemoryClient, MemoryEvent } from './memory-client.ts';

const pollMs = 150;

/** The event of an add when it has ended, or its current state after the timeout. */
export async function awaitEvent(client: MemoryClient, id: string, timeoutMs: number): Promise<MemoryEvent> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const event = await client.getEvent(id);
    if (event.status !== 'PENDING' || performance.now() > deadline) return event;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
