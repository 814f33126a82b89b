import {
  ExecuteButton,
  HeaderEditor,
  pick,
  QueryEditor,
  ResponseEditor,
  Spinner,
  useGraphiQL,
  useGraphiQLActions,
  VariableEditor,
} from '@graphiql/react';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { type DrawnPayment, PaymentDrawing } from '../wallet/payment.tsx';
import type { CarriedValues } from './carried.ts';
import type { Linked } from './copies.ts';
import { besideLab, Frame } from './frame.tsx';
import { journey, stepOf } from './further-steps.ts';
import { type Entry, Movements } from './movements.tsx';
import type { Answer, Operations } from './operations.ts';
import type { Settings } from './settings.ts';
import { bringIntoSight, stepIn, type Tab } from './tab-bar.tsx';
import { DocumentTools, Shortcuts, ThemeChoice } from './tools.tsx';

export interface SessionProps {
  readonly settings: Settings;
  readonly authorization: string;
  readonly carried: CarriedValues;
  readonly operations: Operations;
  readonly linked: Linked | undefined;
  /** The step that was requested elsewhere on the page. */
  readonly picked: { readonly operation: string } | undefined;
  readonly onSignOut: (() => void) | undefined;
}

/** Renders the tab bar, and the editors and response of the open tab. */
export function Session({ settings, authorization, carried, operations, linked, picked, onSignOut }: SessionProps) {
  const { changeTab, addTab, closeTab, stop, setOperationName, setVisiblePlugin, updateActiveTabValues } =
    useGraphiQLActions();
  const { tabs, activeTabIndex, plugins, visiblePlugin } = useGraphiQL(
    pick('tabs', 'activeTabIndex', 'plugins', 'visiblePlugin'),
  );
  const editor = useGraphiQL((state) => state.queryEditor);
  const canRun = useGraphiQL((state) => Boolean(state.queryEditor && state.variableEditor && state.responseEditor));
  const tab = tabs[activeTabIndex];
  const step = stepOf(tab?.operationName ?? tab?.title);
  const running = useSyncExternalStore(operations.subscribe, operations.running);
  const answer = useSyncExternalStore(operations.subscribe, () =>
    // GraphiQL shows this message instead of the last answer if the variables or headers are not JSON.
    tab?.response?.includes('Request not sent') ? undefined : operations.answer(tab?.id),
  );
  useOpenTab(tab, {
    // In a tab that the user has added or opened from a link, the variables stay as they are.
    carried: tab && stepIn(tab, tabs) ? carried : undefined,
    ...{ operations, picked: picked?.operation === step?.operation ? picked : undefined },
  });
  const open = (index: number) => index >= 0 && operations.leave(() => changeTab(index));
  const openNew = (values?: Linked) => {
    // Otherwise GraphiQL would show this tab's results in the new one.
    operations.leave(stop);
    // Otherwise, right after a tab switch, GraphiQL would store the previous tab's operation name for this tab, and so
    // separate it from its step.
    if (step) setOperationName(step.operation);
    addTab();
    if (values) updateActiveTabValues(values);
  };
  /** Opens a step's tab. If another document has replaced the step's own, opens a new tab for the step. */
  const openStep = (operation: string) => {
    const index = tabs.findIndex(({ operationName, title }) => (operationName ?? title) === operation);
    const { query, variables } = stepOf(operation) ?? {};
    if (index >= 0) open(index);
    else if (query && variables !== undefined) openNew({ query, variables });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: opens the picked step once, not again when the tabs change
  useEffect(() => {
    if (picked) openStep(picked.operation);
  }, [picked]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: opens the URL's operation once, when the editors exist
  useEffect(() => {
    if (!canRun || !linked) return;
    const same = tabs.findIndex(
      ({ query, variables }) => query === linked.query && (variables ?? '') === linked.variables,
    );
    if (same >= 0) open(same);
    else openNew(linked);
  }, [canRun]);
  const payment = useMemo(() => answer && paymentIn(answer.result), [answer]);
  const next = step && journey[journey.indexOf(step) + 1];
  const Plugin = visiblePlugin?.content;

  return (
    <Frame
      {...{ settings, tabs, running }}
      openIndex={activeTabIndex}
      onOpen={open}
      onAdd={() => {
        openNew();
        editor?.focus();
      }}
      onClose={(index) => {
        const id = tabs[index]?.id;
        if (id !== undefined) operations.close(id);
        closeTab(index);
      }}
      tools={
        <>
          {plugins.map((plugin) => (
            <button
              key={plugin.title}
              type="button"
              aria-pressed={plugin === visiblePlugin}
              onClick={() => setVisiblePlugin(plugin === visiblePlugin ? null : plugin)}
            >
              {plugin.title}
            </button>
          ))}
          {settings.docs && <a {...besideLab(settings.docs)}>Docs</a>}
          <Shortcuts />
          <ThemeChoice />
          {onSignOut && (
            <button type="button" onClick={onSignOut}>
              Sign out
            </button>
          )}
        </>
      }
    >
      {Plugin && (
        <section className="graphiql-plugin lab-plugin">
          <Plugin />
        </section>
      )}
      <div className="lab-editors">
        <div className="lab-tools">
          <DocumentTools authorization={authorization} />
        </div>
        <section className="lab-query" aria-label="Operation">
          {canRun || <pre className="lab-unloaded">{tab?.query}</pre>}
          <QueryEditor />
        </section>
        <Variables />
      </div>
      <div className="lab-answer">
        <div className="lab-actions">
          {canRun ? <ExecuteButton /> : <span className="quiet">loading …</span>}
          {next && (
            <button
              type="button"
              className="lab-next"
              onClick={({ currentTarget }) => {
                openStep(next.operation);
                // The last step has no "Next" button, so the focus moves to the button that sends the operation.
                if (next === journey.at(-1)) currentTarget.parentElement?.querySelector('button')?.focus();
              }}
            >
              Next: {next.title} →
            </button>
          )}
        </div>
        <AnswerFacts key={tab?.id} answer={answer} isRunning={running.has(tab?.id ?? '')} />
        {payment && (
          <PaymentDrawing payment={payment}>
            <Movements entries={payment.ledgerEntries ?? []} />
          </PaymentDrawing>
        )}
        <ResponseEditor />
      </div>
    </Frame>
  );
}

/** The fields of a payment that a document may select. */
interface AnsweredPayment extends DrawnPayment {
  readonly ledgerEntries?: readonly Entry[];
}

function paymentIn(value: unknown): AnsweredPayment | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  // In the schema, only payments have this field, but a document may use its name as the alias of another field.
  if ('timeline' in value && Array.isArray(value.timeline) && value.timeline[0]?.occurredAt)
    return value as AnsweredPayment;
  for (const member of Object.values(value)) {
    const found = paymentIn(member);
    if (found) return found;
  }
  return undefined;
}

interface AnswerFactsProps {
  readonly answer: Answer | undefined;
  readonly isRunning: boolean;
}

/** Shows the status, time and size of an answer and, collapsed, the cost of its document. */
function AnswerFacts({ answer, isRunning }: AnswerFactsProps) {
  const line = useRef<HTMLDivElement>(null);
  const isAnswered = useRef(answer !== undefined);
  useEffect(() => {
    // On a phone, the answer is below the document and may be out of view.
    if (answer && !isAnswered.current) bringIntoSight(line.current);
    isAnswered.current = answer !== undefined;
  }, [answer]);
  const { status, milliseconds = 0, bytes = 0, cost } = answer ?? {};
  const sizes = [unit('millisecond', milliseconds, 0), unit('kilobyte', bytes / 1_000, 1)];
  const facts = [status, ...(bytes > 0 ? sizes : [])].join(' · ');
  return (
    <div className="lab-facts" ref={line}>
      {cost ? (
        <details>
          <summary>
            {facts} · cost {cost.cost}
          </summary>
          <pre>{JSON.stringify(cost, null, 2)}</pre>
        </details>
      ) : (
        <span className="quiet">{answer ? facts : isRunning ? 'No answer yet' : 'No answer'}</span>
      )}
      {isRunning && !answer && <Spinner />}
    </div>
  );
}

const unit = (name: string, value: number, digits: number) =>
  new Intl.NumberFormat('en', { style: 'unit', unit: name, maximumFractionDigits: digits }).format(value);

function Variables() {
  const [shown, setShown] = useState<'variables' | 'headers'>('variables');
  return (
    <section className="lab-variables" aria-label="Variables and headers">
      <div>
        {(['variables', 'headers'] as const).map((name) => (
          <button key={name} type="button" aria-pressed={shown === name} onClick={() => setShown(name)}>
            {name === 'variables' ? 'Variables' : 'Headers'}
          </button>
        ))}
      </div>
      <VariableEditor className={shown === 'variables' ? '' : 'hidden'} />
      <HeaderEditor className={shown === 'headers' ? '' : 'hidden'} />
      {shown === 'headers' && <small>The credentials of this page are sent unless you set authorization here.</small>}
    </section>
  );
}

/**
 * Runs when a tab is opened, or picked again while open. Writes any values in `carried` into the tab's variables. Then
 * shows the last result of the tab's operation or, if the operation is still running, its results as they arrive.
 */
function useOpenTab(
  tab: Tab | undefined,
  { carried, operations, picked }: Pick<SessionProps, 'operations' | 'picked'> & Partial<Pick<SessionProps, 'carried'>>,
): void {
  const { run, updateActiveTabValues } = useGraphiQLActions();
  const { variableEditor, responseEditor, queryEditor } = useGraphiQL(
    pick('variableEditor', 'responseEditor', 'queryEditor'),
  );
  useEffect(() => {
    for (const editor of [queryEditor, variableEditor]) editor?.updateOptions({ wordWrap: 'on' });
  }, [queryEditor, variableEditor]);
  const id = tab?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when a tab is opened or picked, or the editors appear
  useEffect(() => {
    if (!tab || !variableEditor || !responseEditor || !queryEditor) return;
    // Editors start with the document of the first tab, without variables, even if another tab was opened while they
    // were loading.
    if (queryEditor.getValue() !== (tab.query ?? '')) queryEditor.setValue(tab.query ?? '');
    if (variableEditor.getValue() !== (tab.variables ?? '')) variableEditor.setValue(tab.variables ?? '');
    const variables = carried?.fill(tab.id, variableEditor.getValue());
    if (variables !== undefined) {
      variableEditor.setValue(variables);
      updateActiveTabValues({ variables });
    }
    const state = operations.open(tab.id, variables !== undefined);
    if (state === 'run') run();
    else {
      const response = state ? JSON.stringify(state.result, null, 2) : '';
      responseEditor.setValue(response);
      updateActiveTabValues({ response });
    }
  }, [id, picked, variableEditor, responseEditor, queryEditor]);
}
