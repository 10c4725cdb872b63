import { ask, memberAt, type Probe } from './probe.ts';

/** The session and the content of the file with which files are confirmed. */
export const checkedFile = { session: 'selfcheck', operation: 'message:send', text: 'check of files' } as const;

/**
 * Confirms that a reference with a wrong capability is refused, that a valid one gives the text of its file, and that
 * the same reference is refused after its only read.
 */
export async function confirmFiles(probe: Probe): Promise<boolean> {
  const send = (file: unknown) => {
    const message = {
      messageId: 'selfcheck',
      role: 'ROLE_USER',
      contextId: checkedFile.session,
      parts: [{ data: { file } }],
    };
    return ask(probe, '/message:send', { body: { message } });
  };
  const forged = await send({ ...(probe.reference as object), capability: 'forged' });
  const read = await send(probe.reference);
  const again = await send(probe.reference);
  const text = memberAt(read.text, 'message', 'parts', 0, 'text');
  return forged.status === 403 && read.status === 200 && text === checkedFile.text && again.status === 403;
}
