import { type Command, InvalidArgumentError } from 'commander';
import { longestTokenSeconds, rotateSigningKeys } from '#identity/signing-keys';
import { confirmOnTerminal } from '../options/confirm-on-terminal.ts';
import { type ConfirmOption, withConfirm } from '../options/confirm-option.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { withJson } from '../output/format.ts';
import { writeJson, writeText } from '../output/write.ts';
import { chosenDataDirectory } from '../platform/data-directory.ts';
import { developmentIssuer } from '../platform/development-issuer.ts';
import { runningPlatform } from '../platform/running-platform.ts';
import { firstAdministratorOf, orKeyError, signToken } from '../platform/sign-token.ts';

const defaultSeconds = 3_600;
/** Verifiers refuse tokens with longer names. */
const longestName = 255;

type TokenOptions = {
  readonly data?: string;
  readonly subject?: string;
  readonly audience: string;
  readonly ttl: number;
  readonly json?: boolean;
};

export function addToken(program: Command): void {
  const command = program
    .command('token')
    .description('print a token of the development issuer')
    .option('--subject <subject>', 'subject of the token (default: the first administrator)', readName)
    .option('--audience <audience>', 'audience of the token', readName, developmentIssuer.audience)
    .option('--ttl <seconds>', 'lifetime of the token', wholeNumber(1, longestTokenSeconds, 'seconds'), defaultSeconds)
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  withJson(command).action(token);
  const rotation = command
    .command('rotate')
    .description('replace the signing key of the development issuer; existing tokens stay valid until they expire')
    .option('--revoke', 'revoke the old keys: existing tokens become invalid; asks first at a terminal')
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)');
  withJson(withConfirm(rotation)).action((_options, invoked: Command) => rotate(invoked.optsWithGlobals()));
}

type RotateOptions = ConfirmOption & { readonly data?: string; readonly revoke?: boolean; readonly json?: boolean };

async function rotate({ data, revoke = false, json, ...confirmation }: RotateOptions): Promise<void> {
  const effects = revoke ? ['Every token that the development issuer has signed would become invalid.'] : [];
  await confirmOnTerminal(effects, confirmation);
  const rotated = await orKeyError(() =>
    rotateSigningKeys(chosenDataDirectory(data).signingKeys, { now: new Date(), revoke }),
  );
  const { kid, published } = rotated;
  const signsFrom = rotated.signsFrom.toISOString();
  if (json === true) return writeJson({ kid, signsFrom, published, revoked: revoke });
  writeText(`From ${signsFrom} the development issuer signs with the key ${kid}. Published keys: ${published}.`);
  writeText(
    revoke
      ? 'Tokens of the old keys are refused within 15 minutes.'
      : 'Tokens of the old keys stay valid until they expire.',
  );
}

async function token(options: TokenOptions): Promise<void> {
  const platform = runningPlatform(options.data);
  const subject = options.subject ?? firstAdministratorOf(platform);
  const minted = await signToken(platform.data, { subject, audience: options.audience, ttlSeconds: options.ttl });
  if (options.json === true) writeJson({ token: minted, subject, audience: options.audience, ttl: options.ttl });
  else writeText(minted);
}

function readName(text: string): string {
  if (text !== '' && text.length <= longestName) return text;
  throw new InvalidArgumentError(`It must have 1 to ${longestName} characters.`);
}
