// Sends events again. An administrator runs this program with kubectl exec in the pod of the worker, which has the
// settings.
import { describeFailure } from '#kit/log/describe-failure';
import { connectSql, passwordFrom } from '#sql/connect';
import { readConfig } from './config.ts';
import { replayEvents } from './events/replay-events.ts';
import { readReplayPosition } from './events/replay-position.ts';

const position = readReplayPosition(process.argv.slice(2));
if (typeof position === 'string') {
  process.stderr.write(`${position}\n`);
  process.exitCode = 2;
} else {
  try {
    const { config, secrets } = readConfig();
    await using database = connectSql({
      url: config.databaseUrl,
      applicationName: 'portcullis-catalogue-replay',
      password: passwordFrom(secrets.databasePasswordFile),
    });
    const opened = await replayEvents(database.sql, position);
    const note = config.events === undefined ? ', once a receiver is set' : '';
    process.stdout.write(`Events that are sent again${note}: ${opened}\n`);
  } catch (error) {
    process.stderr.write(`the replay failed: ${describeFailure(error)}\n`);
    process.exitCode = 1;
  }
}
