import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { sendText } from './error-answer.ts';
import type { Endpoint } from './runtime-service.ts';

const page = readFileSync(new URL('./docs-page.html', import.meta.url), 'utf8');

/** The source of a Content-Security-Policy that allows only the one inline element of this name. */
function hashOf(name: 'script' | 'style'): string {
  const inside = new RegExp(`<${name}>([^]*?)</${name}>`).exec(page)?.[1] ?? '';
  return `'sha256-${createHash('sha256').update(inside).digest('base64')}'`;
}

const policy = [
  "default-src 'none'",
  `script-src ${hashOf('script')}`,
  `style-src ${hashOf('style')}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/**
 * GET /docs: an interactive view of the interface without outside assets; it needs no token at present. A POST that the
 * page sends is an ordinary POST and needs all headers.
 */
export const getDocs: Endpoint = {
  path: '/docs',
  methods: ['GET', 'HEAD'],
  answer: ({ outgoing }) => sendText(outgoing, 200, page, headers),
};
