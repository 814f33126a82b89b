import type { ReactNode } from 'react';
import { journey, stepOf } from './further-steps.ts';
import type { Settings } from './settings.ts';
import { type Tab, TabBar, type TabBarProps } from './tab-bar.tsx';

interface FrameProps extends TabBarProps {
  readonly settings: Settings;
  /** The buttons in the header. */
  readonly tools?: ReactNode;
  /** The open tab. */
  readonly children: ReactNode;
}

/** Returns the attributes of a link that opens in a new tab, so that the lab keeps its responses and streams. */
export const besideLab = (href: string) => ({ href, target: '_blank', rel: 'noopener' });

/** Renders the lab's header, its tabs, and the description of the open tab. */
export function Frame({ settings, tools, children, ...bar }: FrameProps) {
  const open = bar.tabs[bar.openIndex];
  const step = stepOf(open?.operationName ?? open?.title);
  return (
    <main className="lab-main">
      <header className="lab-top">
        <h1 className="hidden">Lab</h1>
        <a href="./" className="lab-home">
          Payments
        </a>
        <nav className="lab-plugins" aria-label="Tools">
          {tools}
        </nav>
      </header>
      <TabBar {...bar} />
      <p className="lab-about">
        {step ? (
          step.about
        ) : (
          <>
            An operation of your own. Schema shows what there is.{' '}
            <span className="lab-keys">Ctrl-Space completes what you type, and Ctrl-M lets Tab leave the editor.</span>
          </>
        )}{' '}
        {settings.docs && step?.docs && <a {...besideLab(`${settings.docs}/${step.docs}`)}>Read more</a>}
      </p>
      <div className="lab-work" role="tabpanel" aria-label={step?.title ?? open?.title ?? ''}>
        {children}
      </div>
    </main>
  );
}

interface OpeningProps {
  readonly settings: Settings;
  /** The step that the user has opened. */
  readonly picked: { readonly operation: string } | undefined;
  readonly onPick: (picked: { readonly operation: string }) => void;
}

/** Renders the tab bar and the open tab's document until GraphiQL and its editor are loaded. */
export function Opening({ settings, picked, onPick }: OpeningProps) {
  const { tabs, activeTabIndex } = storedTabs();
  const index = tabs.findIndex(({ operationName }) => operationName === picked?.operation);
  const openIndex = index < 0 ? activeTabIndex : index;
  return (
    <Frame
      {...{ settings, tabs, openIndex }}
      running={new Set()}
      onOpen={(to) => onPick({ operation: tabs[to]?.operationName ?? '' })}
    >
      <div className="lab-editors" aria-busy="true">
        <div className="lab-tools quiet">loading …</div>
        <div className="lab-query">
          <pre className="lab-unloaded">{tabs[openIndex]?.query}</pre>
        </div>
      </div>
      <div className="lab-answer" aria-busy="true">
        <div className="lab-actions" />
      </div>
    </Frame>
  );
}

/** Reads the tabs that GraphiQL will open: those of the last visit, or one per step on the first visit. */
function storedTabs(): { readonly tabs: readonly Tab[]; readonly activeTabIndex: number } {
  try {
    const stored = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '');
    if (Array.isArray(stored.tabs) && stored.tabs.length > 0) return stored;
  } catch {
    // No tabs are stored, or they are stored in another format.
  }
  return {
    tabs: journey.map((step) => ({ ...step, id: step.operation, operationName: step.operation })),
    activeTabIndex: 0,
  };
}
