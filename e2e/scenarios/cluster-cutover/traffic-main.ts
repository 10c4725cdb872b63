// Usage, in a pod: node traffic-main.ts REPLICA,... KEYS ALIAS: serves as the provider of the alias on port 8080 and
// sends requests for it to the gateway's replicas until it is stopped; prints one line of JSON per second; the last
// line is the report.
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { startJudgedTraffic, untilServed } from '../cutover/judged-traffic.ts';

const [replicas = '', keyFile = '', alias = ''] = process.argv.slice(2);
const [key = ''] = readFileSync(keyFile, 'utf8').trim().split(/\s/, 1);
const upstream = await startScriptedUpstream({ kind: 'answer', content: 'not yet' });
const port = Number(new URL(upstream.url).port);
createServer((socket) => {
  const onward = connect(port, '127.0.0.1');
  socket.on('error', () => onward.destroy()).pipe(onward);
  onward.on('error', () => socket.destroy()).pipe(socket);
}).listen(8_080, '0.0.0.0');

const urls = replicas.split(',');
await untilServed({ urls, key, alias }, 600_000);
const traffic = startJudgedTraffic({ urls, key, alias, upstream });
const told = setInterval(() => {
  console.log(JSON.stringify({ requests: traffic.requests(), faults: traffic.faults() }));
}, 1_000);
process.on('SIGTERM', async () => {
  clearInterval(told);
  const report = await traffic.stop();
  const short = (sentences: readonly string[]): readonly string[] => sentences.slice(0, 20);
  const counts = { failed: report.failed.length, unguarded: report.unguarded.length, mixed: report.mixed.length };
  const samples = [...short(report.failed), ...short(report.unguarded), ...short(report.mixed)];
  console.log(JSON.stringify({ ...report, ...counts, samples, isOver: true }));
});
