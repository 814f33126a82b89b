import { InvalidArgumentError, Option } from 'commander';
import type { FailureReason } from '../client/generated/operations.ts';
import { acts, trigger } from './acts.ts';
import { eventTypes, withService } from './command.ts';
import { logs, resend } from './deliveries.ts';
import { followCommand } from './follow-payment.ts';
import { listen } from './listen.ts';
import { counted, type Program } from './program.ts';
import { tail } from './tail.ts';

/** Adds the commands for developers, which use only the public API. */
export function addDevelopers(program: Program): void {
  addWatching(program);
  addWebhooks(program);
  addTrigger(program);
}

const types = Object.keys(eventTypes).join(', ');

function addWatching(program: Program): void {
  program
    .command('follow')
    .description('show the timeline of a payment live until it ends; the exit code is 0 if it is COMPLETED')
    .argument('<payment>', 'Transaction:… or Quote:…')
    .addOption(
      new Option(
        '--until <end>',
        "the payment's first terminal status, or the point after which nothing more (such as a refund) can follow",
      )
        .choices(['TERMINAL', 'FINAL'])
        .default('TERMINAL'),
    )
    .action(withService(followCommand));
  program
    .command('tail')
    .description("show the latest events of the platform's feed, and then each as it happens")
    .option('--last <count>', 'the number of latest events', counted(0, 100), 10)
    .option('--after <cursor>', 'all events after this cursor, instead of the latest ones')
    .option('--type <type...>', `only of these types: ${types}`)
    .option('--customer <id>', 'only of this customer')
    .option('--transaction <id>', 'only of this payment and its quote')
    .action(withService(tail));
}

function addWebhooks(program: Program): void {
  program
    .command('listen')
    .description('post events live, as signed webhooks, to a program on this machine; needs no public address')
    .argument('<to>', 'a port, a port with a path (3000/webhooks), or a URL')
    .option('--after <cursor>', 'start after this cursor, instead of now')
    .option('--type <type...>', 'only of these types')
    .addHelpText('after', '\nWebhooks are signed with WEBHOOK_SECRET or, if unset, a new secret, which is printed.')
    .action(withService(listen));
  program
    .command('logs')
    .description('show the webhooks sent to the endpoints, and how the endpoints responded')
    .option('--last <count>', 'the number of deliveries', counted(1, 100), 20)
    .addOption(
      new Option('--status <status...>', 'only with these statuses').choices(['PENDING', 'DELIVERED', 'FAILED']),
    )
    .option('--endpoint <id>', 'only to this endpoint')
    .action(withService(logs));
  program
    .command('resend')
    .description("resend a delivery, or an event's webhook, to an endpoint or to a program on this machine")
    .argument('<id>', 'WebhookDelivery:…, Event:… or Webhook:…')
    .option('--to <to>', 'the port or URL to send to, as in listen')
    .option('--endpoint <id>', 'the endpoint to send to; required if the platform has several')
    .action(withService(resend));
}

const failureReasons: readonly FailureReason[] = [
  ...(['LNURLP_FAILED', 'PAY_REQUEST_FAILED', 'PAYMENT_APPROVAL_WEBHOOK_ERROR', 'PAYMENT_APPROVAL_TIMED_OUT'] as const),
  ...(['OFFRAMP_FAILED', 'MISSING_MANDATORY_PAYEE_DATA', 'QUOTE_EXPIRED', 'QUOTE_EXECUTION_FAILED'] as const),
];

function addTrigger(program: Program): void {
  program
    .command('trigger')
    .description('do something in the sandbox that causes events')
    .argument('[what]', `${Object.keys(acts).join(', ')}; lists them if omitted`)
    .option('--amount <amount>', 'the amount, in USD', amountIn, '10.00')
    .option('--follow', 'follow the payment until it ends')
    .option('--endpoint <id>', 'the endpoint for a TEST; required if the platform has several')
    .addOption(
      scenario('--step <step>', 'the step that --delay-ms and --failure-reason apply to').choices([
        'PAY_REQUEST',
        'PULL',
        'SETTLEMENT',
      ]),
    )
    .addOption(scenario('--delay-ms <ms>', 'how long the step takes').argParser(counted(0, 3_600_000)))
    .addOption(scenario('--failure-reason <reason>', 'the payment fails for this reason').choices(failureReasons))
    .addOption(scenario('--reject', 'the receiving side refuses the payment'))
    .addOption(scenario('--approval <decision>', 'the decision on an INCOMING_PAYMENT').choices(['APPROVE', 'REJECT']))
    .addOption(
      scenario('--deposit <how>', 'how the deposit of a REAL_TIME_PAYMENT arrives').choices(['SHORT', 'TWICE', 'LATE']),
    )
    .addOption(scenario('--refund-fails', 'the refund fails, too'))
    .addOption(
      scenario('--return-after-ms <ms>', 'how long after the delivery the bank returns the money').argParser(
        counted(0, 3_600_000),
      ),
    )
    .addHelpText(
      'after',
      '\nThe command uses its own customer, payments-cli. Setting up that customer causes further events.',
    )
    .action(withService(trigger));
}

function amountIn(text: string): string {
  if (!/^\d+(\.\d{1,2})?$/.test(text)) throw new InvalidArgumentError('Expected an amount such as 12.50.');
  return text;
}

const scenario = (flags: string, about: string) => new Option(flags, `scenario: ${about}`);
