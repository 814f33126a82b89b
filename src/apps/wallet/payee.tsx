import { useMutation, useQuery } from '@apollo/client/react';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import {
  AddPayee,
  type AddPayeeMutation,
  type ExternalAccountStatus,
  type ExternalAccountType,
  PayeeForm,
  type PayeeFormQuery,
  PayeePicker,
  type PayeePickerQuery,
} from '../client/generated/documents.ts';
import { wordOf } from './payment.tsx';
import { accountText, messageText, noConnection, reasonOf, useReconnected } from './service.ts';

/** The kinds of payees in words. */
export const kinds: Readonly<Record<ExternalAccountType, string>> = {
  BASE_WALLET: 'Base wallet',
  CAD_ACCOUNT: 'Canadian account',
  CLABE: 'Mexican account',
  GBP_ACCOUNT: 'British account',
  IBAN: 'IBAN account',
  LAYER2_WALLET: 'Bitcoin layer 2 wallet',
  LIGHTNING: 'Lightning',
  NGN_ACCOUNT: 'Nigerian account',
  PHP_ACCOUNT: 'Philippine account',
  PIX: 'Pix key',
  POLYGON_WALLET: 'Polygon wallet',
  SGD_ACCOUNT: 'Singapore account',
  SOLANA_WALLET: 'Solana wallet',
  TRON_WALLET: 'Tron wallet',
  UPI: 'UPI address',
  US_ACCOUNT: 'US account',
};

type Customer = NonNullable<PayeePickerQuery['viewer']['customer']>;
/** An account that can be paid now, or once it has been checked. */
export type Payee = Extract<Customer['payees']['edges'][number]['node'], { readonly accountInfo: unknown }>;

const statusNotes: { readonly [Status in ExternalAccountStatus]?: string } = {
  PENDING: 'The bank is still checking the account. It can be paid once that is done.',
  UNDER_REVIEW: 'The account is being reviewed. It can be paid once that is done.',
  INACTIVE: 'The account cannot be paid.',
};

/** Returns a warning if a payee's bank knows the account's owner by another name. */
export function nameWarning({
  beneficiaryVerificationStatus: status,
  beneficiaryVerifiedData: known,
}: Payee): string | undefined {
  if (status !== 'NOT_MATCHED' && status !== 'PARTIAL_MATCH') return undefined;
  const name = known?.fullName ? `as “${known.fullName}”` : 'by another name';
  return `The bank knows the owner of this account ${name}. Check the name before you pay.`;
}

/** Brings a new element into view, because on a phone it may be below the visible part of the page. */
export const inView = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' });

type Form = PayeeFormQuery['externalAccountForms'][number];
type Field = Form['fields'][number];

/** The outcome of submitting the form: the errors by field name, and a message about the whole form. */
interface Outcome {
  readonly faults?: Readonly<Record<string, string>>;
  readonly refusal?: string;
  readonly notes?: readonly string[];
  /** The new payee. It stays here even if it is INACTIVE and therefore no longer in the list. */
  readonly payee?: Payee;
}

interface NewPayeeProps {
  readonly customerId: string;
  /** The payees in their current states. */
  readonly listed: readonly Payee[];
  /** Called with a new payee that can be paid. */
  readonly onAdded: (payee: Payee) => void;
  /** Called with a new payee that can be paid now that its account has been checked. */
  readonly onChecked: (payee: Payee) => void;
}

/**
 * Renders a form for a new payee, for any kind of account. The service defines the fields and their formats. The form
 * also accepts numbers as printed on an invoice, with spaces, dashes and lower-case letters, and points out a wrong
 * character.
 */
export function NewPayee({ customerId, listed, onAdded, onChecked }: NewPayeeProps) {
  const { data, error } = useQuery(PayeeForm);
  const [addPayee, { loading }] = useMutation(AddPayee, { refetchQueries: [PayeePicker] });
  const [kind, setKind] = useState<string>();
  const [outcome, setOutcome] = useState<Outcome>({});
  const [added, setAdded] = useState(0);
  const shown = useRef<HTMLFormElement>(null);
  // The refused field may be above the visible part of the page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: an outcome is shown once
  useEffect(() => shown.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [outcome]);
  useReconnected(() => setOutcome((now) => (now.refusal?.startsWith(noConnection) ? {} : now)));
  const payee = listed.find(({ id }) => id === outcome.payee?.id) ?? outcome.payee;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a payee is chosen once, when its state changes
  useEffect(() => {
    if (payee?.status === 'ACTIVE' && outcome.payee?.status !== 'ACTIVE') onChecked(payee);
    if (payee) setOutcome((now) => ({ ...now, payee }));
  }, [payee?.id, payee?.status]);
  const about = payee && [statusNotes[payee.status], nameWarning(payee)];
  const notes = [...(outcome.notes ?? []), ...(about ?? [])].filter((note) => note !== undefined);
  const forms = data?.externalAccountForms ?? [];
  const form = forms.find(({ accountType }) => accountType === kind) ?? forms[0];

  async function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!form || loading) return;
    const given = new FormData(event.currentTarget);
    const filled = form.exactlyOneOf.filter((name) => textIn(given, name) !== '');
    if (form.exactlyOneOf.length > 0 && filled.length !== 1) return setOutcome({ refusal: oneOfText(form) });
    setOutcome({});
    try {
      const result = (await addPayee({ variables: { input: inputOf(form, given, customerId) } })).data
        ?.createExternalAccount;
      /** Shows what happened, and chooses the payee if it can be paid. */
      const show = (payee: Payee, ...notes: readonly string[]) => {
        setOutcome({ notes, payee });
        if (payee.status === 'ACTIVE') onAdded(payee);
      };
      if (result?.__typename === 'CreateExternalAccountSuccess' && 'status' in result.accountEdge.node) {
        const warnings = result.warnings.map(({ path, message }) => `${labelAt(form, path)}: ${warningText(message)}`);
        // Otherwise, the focus would be lost together with the field in which Enter was pressed.
        if (shown.current?.contains(document.activeElement)) shown.current.querySelector('button')?.focus();
        setAdded(added + 1);
        show(result.accountEdge.node, 'The payee is added.', ...warnings);
      } else if (result?.__typename === 'ConflictError' && result.existing && 'status' in result.existing) {
        show(result.existing, `You have this payee already: ${accountText(result.existing)}.`);
      } else if (result && 'message' in result) setOutcome(refused(form, result));
    } catch (error) {
      setOutcome({ refusal: reasonOf(error) });
    }
  }

  if (!form) return error && <p role="alert">{reasonOf(error)}</p>;
  return (
    <form onSubmit={add} aria-labelledby="new-payee" ref={shown}>
      <label>
        Where the account is
        <select
          value={form.accountType}
          onChange={({ target }) => {
            setKind(target.value);
            setOutcome({});
          }}
        >
          {forms.map(({ accountType, currencies }) => (
            <option key={accountType} value={accountType}>
              {kinds[accountType]} · {currencies.map(({ code }) => code).join(', ')}
            </option>
          ))}
        </select>
        <small>{sentence(form.description)}</small>
      </label>
      {/* After a payee is added, the fields are replaced by empty ones. */}
      <Details key={`${form.accountType} ${added}`} form={form} faults={outcome.faults ?? {}} />
      <button type="submit" aria-busy={loading}>
        Add the payee
      </button>
      {outcome.refusal !== undefined && (
        <p role="alert" ref={inView}>
          {outcome.refusal}
        </p>
      )}
      {notes.length > 0 && (
        <div role="status" ref={inView}>
          {notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </div>
      )}
    </form>
  );
}

/** Renders the fields of one kind of account, its currency if there are several, and its owner. */
function Details({ form, faults }: { form: Form; faults: Readonly<Record<string, string>> }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const choose = (name: string, value: string) => setValues((all) => ({ ...all, [name]: value }));
  return (
    <>
      {form.currencies.length > 1 && (
        <Choice name="currency" label="Currency" values={form.currencies.map(({ code }) => code)} />
      )}
      {form.beneficiaryRequired && (
        <>
          <Choice name="owner" label="Whose account" values={['a person’s', 'a company’s']} />
          <Text name={ownerName} label={ownerLabel} isRequired fault={faults[ownerName]} />
        </>
      )}
      {form.exactlyOneOf.length > 0 && <p>{oneOfText(form)}</p>}
      {form.fields.map((field) =>
        field.allowedValues ? (
          <Choice
            key={field.name}
            name={field.name}
            label={wordsOf(field.name)}
            values={field.required ? field.allowedValues : ['', ...field.allowedValues]}
            onChange={(value) => choose(field.name, value)}
          />
        ) : (
          <Text
            key={field.name}
            name={field.name}
            {...labelOf(field)}
            isRequired={field.required}
            isOneOf={form.exactlyOneOf.includes(field.name)}
            format={formatOf(field, form, values)}
            fault={faults[field.name]}
          />
        ),
      )}
    </>
  );
}

const oneOfText = ({ exactlyOneOf }: Form) => `Fill in exactly one of these ${exactlyOneOf.length} fields.`;

/** The name of the form field for the owner's name; no account detail has the same name. */
const ownerName = 'owner.name';
const ownerLabel = 'Name of the owner';

interface TextProps {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
  /** Whether this is one of several fields of which exactly one must be filled in. */
  readonly isOneOf?: boolean;
  readonly about?: string;
  readonly format?: string | null;
  readonly fault?: string | undefined;
}

/** Renders a text input, with its format or an error message below it. */
function Text({ name, label, isRequired, isOneOf, about, format, fault }: TextProps) {
  const hint = useId();
  const isSame = format?.includes(about?.replace(/ characters$/, '') ?? '');
  const isOptional = !isRequired && !isOneOf && !about?.startsWith('required');
  const hints = [isOptional ? 'optional' : '', isSame ? '' : about, format?.replace(`a ${label} `, '')];
  return (
    <label>
      {label}
      <input
        name={name}
        required={isRequired}
        autoComplete="off"
        aria-describedby={hint}
        aria-invalid={fault !== undefined}
      />
      <small id={hint} role={fault === undefined ? undefined : 'alert'}>
        {fault ?? hints.filter(Boolean).join('; ')}
      </small>
    </label>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
  readonly onChange?: (value: string) => void;
}

function Choice({ name, label, values, onChange }: ChoiceProps) {
  return (
    <label>
      {label}
      <select name={name} onChange={({ target }) => onChange?.(target.value)}>
        {values.map((value) => (
          <option key={value} value={value}>
            {choiceText(value)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Formats an enum value: GOODS_OR_SERVICES as "Goods or services". Keeps abbreviations such as USDC, CPF and CNPJ. */
const choiceText = (value: string) => (/^(?!USD|CNPJ)[A-Z_]{4,}$/.test(value) ? wordOf(value) : value);

/** Returns a field's format, which may depend on the value of another field. */
function formatOf(field: Field, form: Form, values: Readonly<Record<string, string>>): string | null | undefined {
  const other = form.fields.find(({ name }) => name === field.formatDependsOn);
  const chosen = other && (values[other.name] ?? other.allowedValues?.[0]);
  return (field.formatsByValue.find(({ value }) => value === chosen) ?? field).format;
}

/** Splits a field's description into a label (the first words) and a hint (the rest). */
function labelOf({ description }: Field): { label: string; about: string } {
  const [label = '', ...about] = sentence(description).split(/[,;:] /);
  return { label, about: about.join(', ').replace(/^which (is )?/, '') };
}

function labelAt(form: Form, path: readonly (string | number)[]): string {
  const field = form.fields.find(({ name }) => name === path.at(-1));
  return field ? labelOf(field).label : ownerLabel;
}

function wordsOf(name: string): string {
  const words = name.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns a field's trimmed value, or an empty string if the form does not have the field. */
const textIn = (given: FormData, name: string) => String(given.get(name) ?? '').trim();

/** Builds the mutation's input. Optional fields that were left empty are omitted. */
function inputOf(form: Form, given: FormData, customerId: string) {
  const text = (name: string) => textIn(given, name);
  const details = Object.fromEntries(
    form.fields.flatMap(({ name, required }) => (required || text(name) !== '' ? [[name, text(name)] as const] : [])),
  );
  const isCompany = text('owner') === 'a company’s';
  return {
    customerId,
    currency: text('currency') || (form.currencies[0]?.code ?? ''),
    // The names of this member and its fields come from the service, so their types are unknown.
    accountInfo: { [form.inputField]: details } as never,
    ...(form.beneficiaryRequired && {
      beneficiary: isCompany
        ? { business: { legalName: text(ownerName) } }
        : { individual: { fullName: text(ownerName) } },
    }),
  };
}

type Refused = Extract<AddPayeeMutation['createExternalAccount'], { readonly message: string }>;

/** Assigns each error to its field; errors that belong to no field are shown for the whole form. */
function refused(form: Form, { message, fields }: Refused): Outcome {
  const faults: Record<string, string> = {};
  for (const { path, message } of fields) {
    const name = path.at(-1) ?? '';
    if (form.fields.some((field) => field.name === name)) faults[name] = messageText(message);
    else if (path.includes('beneficiary')) faults[ownerName] = messageText(message);
  }
  return Object.keys(faults).length === fields.length && fields.length > 0
    ? { faults }
    : { faults, refusal: messageText(message) };
}

/** Rewords a warning that only the sandbox gives, because customers do not know the names of environments. */
const warningText = (message: string) =>
  messageText(
    message.replace(
      /^PRODUCTION would refuse it: (?:the value is invalid: )?/,
      'Outside the sandbox this account would be refused: ',
    ),
  );

const sentence = (text: string) => text.replace(/\.$/, '');
