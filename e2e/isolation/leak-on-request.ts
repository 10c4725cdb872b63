import { subscribe } from 'node:diagnostics_channel';

// A planted leak: preloaded into a process, keeps 16 KiB for each request.
const kept: Buffer[] = [];
subscribe('http.server.request.start', () => void kept.push(Buffer.alloc(16_384)));
