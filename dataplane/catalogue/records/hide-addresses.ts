/** The text that replaces a removed part of a text. */
export const removed = '[removed]';

/** An address with a scheme; it ends before the next address. */
const address = /[a-z][a-z0-9+.-]{1,15}:\/\/(?:(?![a-z][a-z0-9+.-]{1,15}:\/\/)[^\s<>"'`])+/gi;
/** A name of the cluster, with its port and path. */
const internalName =
  /(?<![a-z0-9.-])[a-z0-9.-]*[a-z0-9-]\.(?:svc|cluster\.local|internal|local|localhost)\b(?::\d+)?[^\s<>"'`]*/gi;
/** An IPv4 address of a private, shared, loopback or link-local network. */
const privateAddress =
  /\b(?:10|127)(?:\.\d{1,3}){3}(?::\d+)?\b|\b(?:192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))(?:\.\d{1,3}){2}(?::\d+)?\b/g;
/** A string that can be an IPv6 address, with its brackets, zone, length of prefix and port; the parser decides. */
const colons =
  /(?<![0-9a-z])\[?((?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})?)(?:%[\w-]+)?(?:\/\d{1,3})?\]?(?![0-9a-z])(?:(?<=\]):\d{1,5})?/gi;
/** A string that can be a host with a port. */
const hostAndPort = /(?<![\w.-])([\w.-]+):(\d{1,5})(?![a-z0-9]|\.\d)/gi;
const pathOfRemoved = /\[removed\]\/[^\s<>"'`]*/g;
/** A host at the beginning of a text: a name that begins with a letter, or an address. */
const host = /^(?:\p{L}|\[|\d{1,3}(?:\.\d{1,3}){3})/u;
const mailAddress = /^(?:mailto|e-?mail):[^:@]+@[^:@]+$/i;
/** Bodies whose documents are named by a number, such as RFC:2616. */
const standards = /^(?:BCP|CVE|CWE|DIN|EN|IEC|IEEE|ISO|NIST|PEP|RFC|STD)$/i;

/** If `keepsPorts` is true, a name with a port is not removed. */
type AddressOptions = { readonly keepsPorts: boolean };

/**
 * The text without internal addresses of an installation and without credentials. An address over https with a public
 * name is kept, if no part of it is an internal address.
 */
export function hideAddresses(text: string, options: AddressOptions): string {
  let shown = '';
  let end = 0;
  for (const { 0: found, index } of text.matchAll(address)) {
    shown += hideInProse(text.slice(end, index), options) + (isPublic(found) ? found : removed);
    end = index + found.length;
  }
  return shown + hideInProse(text.slice(end), options);
}

function hideInProse(text: string, { keepsPorts }: AddressOptions): string {
  const kept = text
    .replace(/\S+/g, withoutCredentials)
    .replace(internalName, removed)
    .replace(colons, (whole, literal: string) => (URL.canParse(`http://[${literal}]`) ? removed : whole))
    .replace(privateAddress, removed);
  if (keepsPorts) return kept;
  return kept
    .replace(hostAndPort, (whole, name: string, port: string) => (isEndpoint(name, port) ? removed : whole))
    .replace(pathOfRemoved, removed);
}

/** A word with `name:secret@host` is removed, except for brackets and quotes before it. */
function withoutCredentials(word: string): string {
  const [colon, at] = [word.indexOf(':'), word.lastIndexOf('@')];
  if (colon < 1 || at < colon + 2 || word[colon + 1] === '@' || !host.test(word.slice(at + 1))) return word;
  const start = /^[([{<"'`]*/.exec(word)?.[0].length ?? 0;
  if (!/\p{L}/u.test(word.slice(0, at)) || mailAddress.test(word.slice(start))) return word;
  return word.slice(0, start) + removed;
}

/**
 * Whether a name and a number are a host and its port, and not, for example, a step, a version, a time or a year. An
 * IPv4 address and localhost have any port. Another name with "." or "-" needs port 80 or a port of at least three
 * digits. A name without these characters needs a port of at least four digits and must not name a standard. A number
 * from 1900 to 2039 is a year.
 */
function isEndpoint(name: string, port: string): boolean {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(name) || /^localhost$/i.test(name)) return true;
  if (!/[a-z]/i.test(name) || /^(?:19\d\d|20[0-3]\d)$/.test(port)) return false;
  if (/[.-]/.test(name)) return port === '80' || port.length >= 3;
  return port.length >= 4 && !standards.test(name);
}

/** Whether an address has a host with a public name, over https, and neither credentials nor an internal name. */
function isPublic(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  if (!/.\../.test(url.hostname) || /^[0-9.]+$|^\[/.test(url.hostname)) return false;
  return text.search(internalName) < 0 && text.search(privateAddress) < 0;
}
