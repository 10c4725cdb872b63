import { subscribe } from 'node:diagnostics_channel';

// A planted leak: loaded into a process before its own code, keeps 16 KiB for each request.
const kept: Buffer[] = [];
subscribe('http.server.request.start', () => void kept.push(Buffer.alloc(16_384)));
