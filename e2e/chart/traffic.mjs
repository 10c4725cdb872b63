// Runs in a pod: sends requests to the gateway continuously until it is stopped, then prints the results.
import { readFileSync } from 'node:fs';

const [url, keyFile] = process.argv.slice(2);
const key = readFileSync(keyFile, 'utf8').trim().split(/\s/, 1)[0];
const question = 'What is a portcullis?';

const cases = [
  { content: question, stream: false, right: (status, text) => status === 200 && text.includes(question) },
  { content: 'Write to a@example.com.', stream: false, right: (status, text) => status === 200 && text.includes('[email]') },
  { content: 'How to make a bomb?', stream: false, right: (status) => status === 403 },
  { content: question, stream: true, right: (status, text) => status === 200 && text.endsWith('data: [DONE]\n\n') },
];

const seen = { requests: 0, failed: 0, slowestMs: 0, faults: {} };
let isOver = false;
process.on('SIGTERM', () => {
  isOver = true;
});

function note(fault) {
  seen.failed += 1;
  seen.faults[fault] = (seen.faults[fault] ?? 0) + 1;
}

async function ask({ content, stream, right }) {
  const begun = performance.now();
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'guarded-echo', messages: [{ role: 'user', content }], stream }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (!right(response.status, text)) note(`${stream ? 'stream ' : ''}${response.status} ${/"code":"([a-z_]+)"/.exec(text)?.[1] ?? ''}`);
  } catch (error) {
    note(`${error.name} ${error.cause?.code ?? ''}`);
  }
  seen.requests += 1;
  seen.slowestMs = Math.max(seen.slowestMs, Math.round(performance.now() - begun));
}

async function work(offset) {
  for (let at = offset; !isOver; at += 1) {
    await ask(cases[at % cases.length]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const told = setInterval(() => console.log(JSON.stringify(seen)), 1_000);
await Promise.all([0, 1, 2].map(work));
clearInterval(told);
console.log(JSON.stringify({ ...seen, isOver }));
