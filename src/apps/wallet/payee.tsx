import type { ApolloCache } from '@apollo/client';
import { useMutation, useQuery } from '@apollo/client/react';
import { type FormEvent, useId, useState } from 'react';
import {
  AddPayee,
  type AddPayeeMutation,
  PayeeForm,
  type PayeeFormQuery,
  PayeePicker,
} from '../client/generated/operations.ts';
import { locale } from './service.ts';

type Form = PayeeFormQuery['externalAccountForms'][number];
type Field = Form['fields'][number];

/** What became of the form: what is wrong with each field by its name, and what to say of the whole. */
interface Outcome {
  readonly faults?: Readonly<Record<string, string>>;
  readonly refusal?: string;
  readonly notes?: readonly string[];
}

/**
 * A form for a new payee, of whatever kind of account. Which fields it has, and how each is written, the service says. It also
 * takes what stands on an invoice, with spaces, dashes and small letters, and says which character is wrong.
 */
export function NewPayee({ customerId, onAdded }: { customerId: string; onAdded: (accountId: string) => void }) {
  const { data } = useQuery(PayeeForm);
  const [addPayee, { loading }] = useMutation(AddPayee, { update: (cache, { data }) => show(cache, data) });
  const [kind, setKind] = useState<string>();
  const [outcome, setOutcome] = useState<Outcome>({});
  const forms = data?.externalAccountForms ?? [];
  const form = forms.find(({ accountType }) => accountType === kind) ?? forms[0];

  async function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!form) return;
    const given = new FormData(event.currentTarget);
    setOutcome({});
    try {
      const result = (await addPayee({ variables: { input: inputOf(form, given, customerId) } })).data
        ?.createExternalAccount;
      if (result?.__typename === 'CreateExternalAccountSuccess') {
        setOutcome({ notes: ['The payee is added.', ...result.warnings.map(({ message }) => message)] });
        onAdded(result.accountEdge.node.id);
      } else if (result?.__typename === 'ConflictError' && result.existing) {
        setOutcome({ notes: ['You have this payee already.'] });
        onAdded(result.existing.id);
      } else if (result && 'message' in result) setOutcome(refused(form, result));
    } catch (error) {
      setOutcome({ refusal: error instanceof Error ? error.message : String(error) });
    }
  }

  if (!form) return null;
  return (
    <form onSubmit={add} aria-labelledby="new-payee">
      <label>
        Where the account is
        <select
          value={form.accountType}
          onChange={({ target }) => {
            setKind(target.value);
            setOutcome({});
          }}
        >
          {forms.map(({ accountType, description, currencies }) => (
            <option key={accountType} value={accountType}>
              {currencies.map(({ code }) => code).join(', ')} · {sentence(description)}
            </option>
          ))}
        </select>
      </label>
      <Details key={form.accountType} form={form} faults={outcome.faults ?? {}} />
      <button type="submit" disabled={loading}>
        Add the payee
      </button>
      {outcome.refusal !== undefined && <p role="alert">{outcome.refusal}</p>}
      {outcome.notes && (
        <ul role="status">
          {outcome.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </form>
  );
}

/** The fields of one kind of account, with its currency where there are several, and its owner. */
function Details({ form, faults }: { form: Form; faults: Readonly<Record<string, string>> }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const choose = (name: string, value: string) => setValues((all) => ({ ...all, [name]: value }));
  return (
    <>
      {form.currencies.length > 1 && (
        <Choice name="currency" label="Currency" values={form.currencies.map(({ code }) => code)} />
      )}
      {form.isBeneficiaryRequired && (
        <>
          <Choice name="owner" label="Whose account" values={['a person’s', 'a company’s']} />
          <Text name={ownerName} label="Name of the owner" isRequired fault={faults[ownerName]} />
        </>
      )}
      {form.exactlyOneOf.length > 0 && <p>Fill one of these {form.exactlyOneOf.length}.</p>}
      {form.fields.map((field) =>
        field.allowedValues ? (
          <Choice
            key={field.name}
            name={field.name}
            label={wordsOf(field.name)}
            values={field.isRequired ? field.allowedValues : ['', ...field.allowedValues]}
            onChange={(value) => choose(field.name, value)}
          />
        ) : (
          <Text
            key={field.name}
            name={field.name}
            {...labelOf(field)}
            isRequired={field.isRequired}
            format={formatOf(field, form, values)}
            fault={faults[field.name]}
          />
        ),
      )}
    </>
  );
}

/** The name of the field of the owner's name: no detail of an account is called so. */
const ownerName = 'owner.name';

interface TextProps {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
  /** What is to be known of it besides its label. */
  readonly about?: string;
  readonly format?: string | null;
  readonly fault?: string | undefined;
}

/** A text, with its form below it, or what is wrong with it. */
function Text({ name, label, isRequired, about, format, fault }: TextProps) {
  const hint = useId();
  const hints = new Set([...(isRequired ? [] : ['optional']), about ?? '', format ?? ''].filter((text) => text !== ''));
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
        {fault ?? [...hints].join('; ')}
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
            {value.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </label>
  );
}

/** How a text is written, which the value of another field may decide. */
function formatOf(field: Field, form: Form, values: Readonly<Record<string, string>>): string | null | undefined {
  const other = form.fields.find(({ name }) => name === field.formatDependsOn);
  const chosen = other && (values[other.name] ?? other.allowedValues?.[0]);
  return (field.formatsByValue.find(({ value }) => value === chosen) ?? field).format;
}

/** The first words of a field's description are its label; the rest is what is to be known of it besides. */
function labelOf({ description }: Field): { label: string; about: string } {
  const [label = '', ...about] = sentence(description).split(/[,;:] /);
  return { label, about: about.join(', ') };
}

function wordsOf(name: string): string {
  const words = name.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Makes the mutation's input: what is optional and was left empty is left out. */
function inputOf(form: Form, given: FormData, customerId: string) {
  const text = (name: string) => String(given.get(name) ?? '').trim();
  const details = Object.fromEntries(
    form.fields.flatMap(({ name, isRequired }) =>
      isRequired || text(name) !== '' ? [[name, text(name)] as const] : [],
    ),
  );
  const isCompany = text('owner') === 'a company’s';
  return {
    customerId,
    currency: text('currency') || (form.currencies[0]?.code ?? ''),
    // The service names the member, and what belongs into it.
    accountInfo: { [form.inputField]: details } as never,
    ...(form.isBeneficiaryRequired && {
      beneficiary: isCompany
        ? { business: { legalName: text(ownerName) } }
        : { individual: { fullName: text(ownerName) } },
    }),
  };
}

/** Puts a new payee before those that were listed: the mutation's answer has it as an edge of that list. */
function show(cache: ApolloCache, data: AddPayeeMutation | null | undefined): void {
  const result = data?.createExternalAccount;
  if (result?.__typename !== 'CreateExternalAccountSuccess') return;
  cache.updateQuery({ query: PayeePicker, variables: { locale } }, (listed) => {
    if (!listed?.viewer.customer) return undefined;
    const { customer } = listed.viewer;
    const payees = { ...customer.payees, edges: [result.accountEdge, ...customer.payees.edges] };
    return { ...listed, viewer: { ...listed.viewer, customer: { ...customer, payees } } };
  });
}

type Refused = {
  readonly message: string;
  readonly fields: readonly { path: readonly (string | number)[]; message: string }[];
};

/** Puts what is wrong beside its field; what belongs to none of them is said of the whole. */
function refused(form: Form, { message, fields }: Refused): Outcome {
  const faults: Record<string, string> = {};
  for (const { path, message } of fields) {
    const name = path.at(-1) ?? '';
    if (form.fields.some((field) => field.name === name)) faults[name] = message;
    else if (path.includes('beneficiary')) faults[ownerName] = message;
  }
  return Object.keys(faults).length === fields.length && fields.length > 0 ? { faults } : { faults, refusal: message };
}

/** A description without the full stop, as a label has it. */
const sentence = (text: string) => text.replace(/\.$/, '');
