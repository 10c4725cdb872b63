import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { Hono } from 'hono';
import type { ConsoleEnvironment } from './environment.ts';

const require = createRequire(import.meta.url);
const own = (name: string): Buffer => readFileSync(new URL(`../assets/${name}`, import.meta.url));
const packaged = (path: string): Buffer => readFileSync(require.resolve(path));

type Asset = { readonly type: string; readonly bytes: Buffer; readonly packed: Buffer };

type Assets = {
  /** Part of the addresses of all assets: another content has other addresses. */
  readonly version: string;
  addTo(app: Hono<ConsoleEnvironment>): void;
};

/** The scripts, styles and icon, read once. A page loads no file from another host. */
export function openAssets(): Assets {
  const files: Readonly<Record<string, Asset>> = {
    'console.js': asset('text/javascript', script()),
    'console.css': asset('text/css', own('console.css')),
    'icon.svg': asset('image/svg+xml', own('icon.svg')),
  };
  const hash = createHash('sha256');
  for (const { bytes } of Object.values(files)) hash.update(bytes);
  const version = hash.digest('hex').slice(0, 12);
  return {
    version,
    addTo(app) {
      app.get('/assets/:version/:name', (context) => {
        const name = context.req.param('name');
        const found = Object.hasOwn(files, name) ? files[name] : undefined;
        if (found === undefined) return context.text('There is no such file.\n', 404);
        // During a rollout a replica of another version answers for an address of this page: no cache keeps its bytes.
        const isOwn = context.req.param('version') === version;
        const isPacked = /\bgzip\b/.test(context.req.header('accept-encoding') ?? '');
        return new Response(new Uint8Array(isPacked ? found.packed : found.bytes), {
          headers: {
            'content-type': `${found.type}; charset=utf-8`,
            'cache-control': isOwn ? 'public, max-age=31536000, immutable' : 'no-store',
            vary: 'accept-encoding',
            ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
          },
        });
      });
    },
  };
}

/**
 * The scripts as one file: htmx starts in a task after its own script, and its extensions must be registered before
 * that.
 */
function script(): Buffer {
  const parts = [packaged('htmx.org/dist/htmx.min.js'), own('console.js'), packaged('htmx.org/dist/ext/hx-sse.min.js')];
  return Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n;\n')]));
}

function asset(type: string, bytes: Buffer): Asset {
  return { type, bytes, packed: gzipSync(bytes, { level: 9 }) };
}
