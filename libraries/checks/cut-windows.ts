import { TextChannel } from './text-channel.ts';
import { characterStart } from './token-boundary.ts';

/** A window of a streamed text, the text that a client has once it has passed, and the bytes that are judged and not sent. */
type PassedWindow = { readonly text: string; readonly sent: string; readonly heldBytes: number };

/**
 * The windows in which a whole text is judged when it is streamed (docs/design/streaming.md), in order: each window is
 * judged only if all earlier windows have passed. Empty for an empty text.
 * @param text well-formed Unicode
 */
export function cutWindows(text: string): readonly PassedWindow[] {
  const channel = new TextChannel();
  if (!channel.append(text) || !channel.end()) throw new TypeError('the text holds half a surrogate pair');
  const bytes = Buffer.from(text, 'utf8');
  const windows: PassedWindow[] = [];
  for (let next = channel.nextWindow(); next !== undefined; next = channel.nextWindow()) {
    channel.pass(next);
    const end = characterStart(bytes, channel.releasedEnd);
    windows.push({ text: next.text, sent: bytes.toString('utf8', 0, end), heldBytes: next.end - end });
  }
  return windows;
}

/**
 * The texts of the windows of `cutWindows`, for a text that is judged before any of it is sent. Empty for an empty
 * text.
 * @returns undefined for a text that is not well-formed Unicode
 */
export function windowsOf(text: string): readonly string[] | undefined {
  const channel = new TextChannel();
  const isWellFormed = channel.append(text) && channel.end();
  if (!isWellFormed) return undefined;
  const windows: string[] = [];
  for (let next = channel.nextWindow(); next !== undefined; next = channel.nextWindow()) {
    windows.push(next.text);
    channel.pass(next);
  }
  return windows;
}
