import {
  ExecuteButton,
  HeaderEditor,
  pick,
  QueryEditor,
  ResponseEditor,
  Spinner,
  useGraphiQL,
  useGraphiQLActions,
  useMonaco,
  VariableEditor,
} from '@graphiql/react';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import type { CarriedValues } from './carried.ts';
import { CopyDialog } from './copy-dialog.tsx';
import { journey, stepOf } from './further-steps.ts';
import type { Operations } from './operations.ts';
import type { Settings } from './settings.ts';
import { TabBar } from './tab-bar.tsx';

interface SessionProps {
  readonly settings: Settings;
  readonly authorization: string;
  readonly carried: CarriedValues;
  readonly operations: Operations;
  /** The step that was requested elsewhere on the page. */
  readonly picked: { readonly operation: string } | undefined;
  readonly onSignOut?: () => void;
}

/** Renders the tabs, and the editors and the response of the open one. */
export function Session({ settings, authorization, carried, operations, picked, onSignOut }: SessionProps) {
  const { changeTab, addTab, closeTab, stop, setVisiblePlugin } = useGraphiQLActions();
  const { tabs, activeTabIndex, plugins, visiblePlugin, isFetching } = useGraphiQL(
    pick('tabs', 'activeTabIndex', 'plugins', 'visiblePlugin', 'isFetching'),
  );
  const hasEditors = useMonaco((state) => Boolean(state.monaco));
  const canRun = useGraphiQL((state) => Boolean(state.queryEditor && state.variableEditor && state.responseEditor));
  const tab = tabs[activeTabIndex];
  const step = stepOf(tab?.operationName ?? tab?.title);
  const running = useSyncExternalStore(operations.subscribe, operations.running);
  useOpenTab(tab, { carried, operations });

  const open = useCallback(
    (index: number) => index >= 0 && operations.leave(() => changeTab(index)),
    [operations, changeTab],
  );
  const openStep = useCallback(
    (operation: string) => open(tabs.findIndex(({ operationName, title }) => (operationName ?? title) === operation)),
    [open, tabs],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: opens what was picked once, not again when the tabs change
  useEffect(() => {
    if (picked) openStep(picked.operation);
  }, [picked]);
  const next = step && journey[journey.indexOf(step) + 1];
  const Plugin = visiblePlugin?.content;

  return (
    <main className="lab-main">
      <header className="lab-top">
        <h1 className="lab-title">Lab</h1>
        <a href="./" className="lab-home">
          Payments
        </a>
        <nav className="lab-plugins" aria-label="Tools">
          {plugins.map((plugin) => (
            <button
              key={plugin.title}
              type="button"
              aria-pressed={plugin === visiblePlugin}
              onClick={() => setVisiblePlugin(plugin === visiblePlugin ? null : plugin)}
            >
              <plugin.icon /> {plugin.title.replace('Documentation Explorer', 'Schema').replace('GraphiQL ', '')}
            </button>
          ))}
          {settings.docs && <a href={settings.docs}>Docs</a>}
          {onSignOut && (
            <button type="button" onClick={onSignOut}>
              Sign out
            </button>
          )}
        </nav>
      </header>
      <TabBar
        tabs={tabs}
        openIndex={activeTabIndex}
        running={running}
        onOpen={open}
        onAdd={() => {
          // GraphiQL would show the results for this tab in the new one.
          operations.leave(stop);
          addTab();
        }}
        onClose={(index) => {
          const id = tabs[index]?.id;
          if (id !== undefined) operations.close(id);
          closeTab(index);
        }}
      />
      {step && (
        <p className="lab-about">
          {step.about} {settings.docs && step.docs && <a href={`${settings.docs}/${step.docs}`}>Read more</a>}
        </p>
      )}
      <div className="lab-work" role="tabpanel" aria-label={step?.title ?? tab?.title ?? ''}>
        {Plugin && (
          <section className="graphiql-plugin lab-plugin">
            <Plugin />
          </section>
        )}
        <div className="lab-editors">
          <section className="lab-query" aria-label="Operation">
            {hasEditors ? <QueryEditor /> : <Spinner />}
          </section>
          <Variables />
        </div>
        <div className="lab-answer">
          <div className="lab-actions">
            {canRun ? <ExecuteButton /> : <span className="lab-quiet">loading …</span>}
            <CopyDialog authorization={authorization} />
            {next && (
              <button type="button" className="lab-next" onClick={() => openStep(next.operation)}>
                Next: {next.title} →
              </button>
            )}
          </div>
          {isFetching && <Spinner />}
          <ResponseEditor />
        </div>
      </div>
    </main>
  );
}

/** Renders the editor of the variables, or of the request headers. */
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
    </section>
  );
}

interface Opened {
  readonly carried: CarriedValues;
  readonly operations: Operations;
}

interface Tab {
  readonly id: string;
  readonly query: string | null;
  readonly variables?: string | null;
}

/** When a tab opens, writes the collected values into its variables, and shows the result of its operation or runs it. */
function useOpenTab(tab: Tab | undefined, { carried, operations }: Opened): void {
  const { run, updateActiveTabValues } = useGraphiQLActions();
  const { variableEditor, responseEditor, queryEditor } = useGraphiQL(
    pick('variableEditor', 'responseEditor', 'queryEditor'),
  );
  useEffect(() => {
    for (const editor of [queryEditor, variableEditor]) editor?.updateOptions({ wordWrap: 'on' });
  }, [queryEditor, variableEditor]);
  // The editors' colours follow the system theme, which may change at sunset.
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL((state) => state.theme);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const change = () => setTheme(theme);
    dark.addEventListener('change', change);
    return () => dark.removeEventListener('change', change);
  }, [theme, setTheme]);
  const id = tab?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another tab is opened, or the editors are there
  useEffect(() => {
    if (!tab || !variableEditor || !responseEditor || !queryEditor) return;
    // Editors start with the first tab, without its variables, even if another tab was opened while they were loading.
    if (queryEditor.getValue() !== (tab.query ?? '')) queryEditor.setValue(tab.query ?? '');
    if (variableEditor.getValue() !== (tab.variables ?? '')) variableEditor.setValue(tab.variables ?? '');
    const variables = carried.fill(tab.id, variableEditor.getValue());
    if (variables !== undefined) {
      variableEditor.setValue(variables);
      updateActiveTabValues({ variables });
    }
    const state = operations.open(tab.id);
    if (state === 'run') run();
    else if (state) {
      const response = JSON.stringify(state.result, null, 2);
      responseEditor.setValue(response);
      updateActiveTabValues({ response });
    }
  }, [id, variableEditor, responseEditor, queryEditor]);
}
