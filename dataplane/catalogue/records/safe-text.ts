/**
 * Marks that a reader does not see, such as variation selectors: they are a part of the character before them. Without them an
 * emoji has another look, and a text cannot carry another one for models.
 */
const unseenMarks = /[\p{Default_Ignorable_Code_Point}&&\p{M}]+/gv;
/**
 * Other characters that a reader does not see or that reorder what it sees: controls, format characters such as bidi marks,
 * joiners and tag characters, fillers and blanks, line and paragraph separators, unassigned and private ones, and lone surrogates.
 */
const unsafe = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\u2800\u{1D159}]+/gu;

/** An address with a scheme. */
const address = /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s<>"'`]+/gi;
/** What can be an IPv6 address, with its brackets, zone, length of prefix and port; the parser decides. */
const colons =
  /(?<![0-9a-z])\[?((?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})?)(?:%[\w-]+)?(?:\/\d{1,3})?\]?(?![0-9a-z])(?:(?<=\]):\d{1,5})?/gi;
/** A name of the cluster, and an IPv4 address of a private, shared, loopback or link-local network. */
const internalName =
  /\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:svc|cluster\.local|internal|local|localhost)\b(?::\d+)?[^\s<>"'`]*/gi;
const privateAddress =
  /\b(?:10|127)(?:\.\d{1,3}){3}(?::\d+)?\b|\b(?:192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))(?:\.\d{1,3}){2}(?::\d+)?\b/g;
/** A name with a port, outside of an address with a scheme: a name without a dot is one of the inside. */
const nameWithPort = /(?<![\w./@%-])[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*:\d{2,5}(?![\w:]|\.\d)(?:\/[^\s<>"'`]*)?/gi;
/** Stands for a part of a text that is not shown. */
export const removed = '[removed]';

/**
 * Text of a card that people and models may read (`catalogue:record:safe-name`): without characters that are not seen,
 * without addresses of the inside of the installation or with credentials, in one line, in NFC, and cut to a length.
 * @param most code points
 */
export function safeText(text: string, most: number): string {
  const seen = text.replace(unseenMarks, '').normalize('NFC').replace(unsafe, ' ');
  const kept = seen
    .replace(address, (url) => (isPublic(url) ? url : removed))
    .replace(internalName, removed)
    .replace(colons, (whole, literal: string) => (URL.canParse(`http://[${literal}]`) ? removed : whole))
    .replace(privateAddress, removed)
    .replace(nameWithPort, removed);
  const line = [...kept.replace(/\s+/g, ' ').trim()];
  return line.length <= most ? line.join('') : `${line.slice(0, most - 1).join('')}…`;
}

/** Whether an address leads to a host with a public name, over https, without credentials. */
function isPublic(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  return url.hostname.includes('.') && !/^[0-9.]+$|^\[/.test(url.hostname);
}
