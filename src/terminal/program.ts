import { inspect } from 'node:util';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { acts } from './acts.ts';
import { eventTypes, type Job, type Work } from './command.ts';
import { logs, resend } from './deliveries.ts';
import { followCommand } from './follow-payment.ts';
import { listen } from './listen.ts';
import { Failure, type Screen } from './screen.ts';
import { type Address, Service } from './service.ts';
import { tail } from './tail.ts';
import { trigger } from './trigger.ts';

/** The exit code for arguments that are wrong. */
const usageCode = 2;

const words = `
The API token is in PAYMENTS_CLIENT_ID and PAYMENTS_CLIENT_SECRET; a sandbox on this machine needs none.
PAYMENTS_URL is what --url is when it is left out.`;

/**
 * Runs a command line of developers, which uses the public API alone, and prints its answer.
 * @returns the exit code: 0 when all is well, 1 when something failed or was refused, 2 for wrong arguments
 */
export async function runTerminal(args: readonly string[], screen: Screen): Promise<number> {
  let exitCode = 0;
  const action =
    <Args extends unknown[]>(work: Work<Args>) =>
    async (...all: [...Args, Command]): Promise<void> => {
      // Commander passes the command last.
      const options = (all.at(-1) as Command).optsWithGlobals<Partial<Address> & { readonly json?: true }>();
      const json = options.json === true;
      exitCode = await run(screen, json, async () => {
        const job: Job = { service: new Service(screen, options), screen, json };
        // The last of what a command gets are its options; these are with those of the whole program.
        return work(job, ...([...all.slice(0, -2), options] as unknown as Args));
      });
    };
  const program = new Command('npm run cli --')
    .description('Watches a service, and makes things happen in its sandbox, while you develop against it.')
    .option('--url <url>', 'where the service is (default: http://127.0.0.1:4000)')
    .option('--json', 'print for machines: JSON, one value a line where more may come')
    .addHelpText('after', words)
    .showHelpAfterError()
    .configureOutput({ writeOut: (text) => screen.out(text.trimEnd()), writeErr: (text) => screen.err(text.trimEnd()) })
    .exitOverride();
  addWatching(program, action);
  addWebhooks(program, action);
  addTrigger(program, action);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : usageCode;
  }
}

type Action = <Args extends unknown[]>(work: Work<Args>) => (...all: [...Args, Command]) => Promise<void>;

async function run(screen: Screen, json: boolean, work: () => ReturnType<Work<[]>>): Promise<number> {
  try {
    return (await work())?.exitCode ?? 0;
  } catch (error) {
    if (screen.signal.aborted) return 0;
    const message = error instanceof Failure ? error.message : inspect(error);
    if (json) screen.out(JSON.stringify({ error: message, ...(error instanceof Failure && { code: error.code }) }));
    else screen.err(message);
    return 1;
  }
}

const types = Object.keys(eventTypes).join(', ');

function addWatching(program: Command, action: Action): void {
  program
    .command('follow')
    .description('show the timeline of a payment, live, until it ends; exits with 0 when it is COMPLETED')
    .argument('<payment>', 'Transaction:… or Quote:…')
    .addOption(
      new Option(
        '--until <end>',
        'its first terminal status, or the point after which nothing can follow, such as a refund',
      )
        .choices(['TERMINAL', 'FINAL'])
        .default('TERMINAL'),
    )
    .action(action(followCommand));
  program
    .command('tail')
    .description("show the latest events of the platform's feed, and then each as it happens")
    .option('--last <count>', 'how many of the latest', counted(0, 100), 10)
    .option('--after <cursor>', 'all after this cursor, in place of the latest')
    .option('--type <type...>', `of these types alone: ${types}`)
    .option('--customer <id>', 'of this customer alone')
    .option('--transaction <id>', 'of this payment and its quote alone')
    .action(action(tail));
}

function addWebhooks(program: Command, action: Action): void {
  program
    .command('listen')
    .description('post each webhook to a program on this machine as it happens, signed; needs no public address')
    .argument('<to>', 'a port, a port with a path (3000/webhooks), or a URL')
    .option('--after <cursor>', 'start after this cursor, in place of now')
    .option('--type <type...>', 'of these types alone')
    .addHelpText('after', '\nIt signs with WEBHOOK_SECRET, or with a new secret, which it prints.')
    .action(action(listen));
  program
    .command('logs')
    .description('show what was sent to the webhook endpoints, and what they answered')
    .option('--last <count>', 'how many', counted(1, 100), 20)
    .addOption(
      new Option('--status <status...>', 'with these statuses alone').choices(['PENDING', 'DELIVERED', 'FAILED']),
    )
    .option('--endpoint <id>', 'of this endpoint alone')
    .action(action(logs));
  program
    .command('resend')
    .description('send a delivery again, or the webhook of an event: to an endpoint, or to a program on this machine')
    .argument('<id>', 'WebhookDelivery:…, Event:… or Webhook:…')
    .option('--to <to>', 'to this port or URL, as with listen')
    .option('--endpoint <id>', 'to this endpoint; needed where the platform has several')
    .action(action(resend));
}

function addTrigger(program: Command, action: Action): void {
  program
    .command('trigger')
    .description('make something happen in the sandbox, so that its events come')
    .argument('[what]', `${Object.keys(acts).join(', ')}; without it, they are listed`)
    .option('--amount <amount>', 'how much, in USD', '10.00')
    .option('--follow', 'follow the payment until it ends')
    .option('--endpoint <id>', 'the endpoint of a TEST; needed where the platform has several')
    .addOption(
      scenario('--step <step>', 'the step of --delay-ms and --failure-reason').choices([
        'PAY_REQUEST',
        'PULL',
        'SETTLEMENT',
      ]),
    )
    .addOption(scenario('--delay-ms <ms>', 'how long the step takes').argParser(counted(0, 3_600_000)))
    .addOption(scenario('--failure-reason <reason>', 'it fails for this reason, such as OFFRAMP_FAILED'))
    .addOption(scenario('--reject', 'the receiving side refuses it'))
    .addOption(scenario('--approval <decision>', 'of an INCOMING_PAYMENT').choices(['APPROVE', 'REJECT']))
    .addOption(
      scenario('--deposit <how>', 'how the deposit of a REAL_TIME_PAYMENT arrives').choices(['SHORT', 'TWICE', 'LATE']),
    )
    .addOption(scenario('--refund-fails', 'the money does not come back either'))
    .addOption(
      scenario('--return-after-ms <ms>', 'the bank returns it so long after its end').argParser(counted(0, 3_600_000)),
    )
    .addHelpText(
      'after',
      '\nIt uses a customer of its own, payments-cli, and makes what that lacks: other events come with those.',
    )
    .action(action(trigger));
}

const scenario = (flags: string, about: string) => new Option(flags, `scenario: ${about}`);

/** Makes a parser of whole numbers from `least` to `most`. */
const counted = (least: number, most: number) => (text: string) => {
  const count = Number(text);
  if (!Number.isInteger(count) || count < least || count > most)
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  return count;
};
