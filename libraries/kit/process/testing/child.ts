/** A child process for tests; its standard input is a Job as JSON. */
type Job = { readonly out?: number; readonly err?: number; readonly code?: number; readonly hang?: boolean };

const chunks: Buffer[] = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const input = Buffer.concat(chunks).toString();
const job = JSON.parse(input) as Job;
process.stdout.write(
  job.out === undefined ? JSON.stringify({ input, env: process.env, pid: process.pid }) : 'o'.repeat(job.out),
);
process.stderr.write('e'.repeat(job.err ?? 0));
if (job.hang) setInterval(() => undefined, 1000);
else process.exitCode = job.code ?? 0;
