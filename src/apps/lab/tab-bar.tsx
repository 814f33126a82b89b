import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react';
import { journey, stepOf } from './further-steps.ts';

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly operationName: string | null;
  readonly query: string | null;
  readonly variables?: string | null;
}

export interface TabBarProps {
  readonly tabs: readonly Tab[];
  readonly openIndex: number;
  /** The tabs with an operation in progress. */
  readonly running: ReadonlySet<string>;
  readonly onOpen: (index: number) => void;
  readonly onAdd?: () => void;
  readonly onClose?: (index: number) => void;
}

/** Whether the focus was in a tab bar that was unmounted or on a tab being closed. If so, it moves to the open tab. */
let hadFocus = false;

/**
 * Renders the tabs. They keep their positions, so that a click hits the intended tab. The Tab key stops only at the
 * open one; the arrow keys, Home and End open the others, and Delete closes a tab that is not a step of the journey.
 */
export function TabBar({ tabs, openIndex, running, onOpen, onAdd, onClose }: TabBarProps) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls the open tab and its beginning into view whenever another is opened
  useEffect(() => {
    const open = list.current?.querySelector<HTMLElement>('[aria-selected=true]');
    list.current?.closest('.lab-main')?.scrollTo(0, 0);
    bringIntoSight(open);
    if (hadFocus || list.current?.contains(document.activeElement)) open?.focus();
    hadFocus = false;
  }, [tabs[openIndex]?.id]);
  useLayoutEffect(() => {
    const shown = list.current;
    if (hadFocus) shown?.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
    return () => {
      hadFocus = shown?.contains(document.activeElement) ?? false;
    };
  }, []);
  const isClosable = (tab: Tab | undefined) => onClose && tab && tabs.length > 1 && !stepIn(tab, tabs);
  const open = tabs[openIndex];
  const close = () => {
    hadFocus = true;
    onClose?.(openIndex);
  };
  const onKey = (event: KeyboardEvent) => {
    const last = tabs.length - 1;
    const to = {
      ArrowRight: openIndex === last ? 0 : openIndex + 1,
      ArrowLeft: openIndex === 0 ? last : openIndex - 1,
      ...{ Home: 0, End: last },
    }[event.key];
    if (to !== undefined) onOpen(to);
    else if (event.key === 'Delete' && isClosable(open)) close();
    else return;
    event.preventDefault();
  };
  return (
    <div className="lab-tabs">
      <div role="tablist" aria-label="Operations" ref={list} onKeyDown={onKey}>
        {tabs.map((tab, index) => {
          const step = stepIn(tab, tabs);
          const isOpen = index === openIndex;
          return (
            <button
              key={tab.id}
              className="lab-tab"
              type="button"
              role="tab"
              aria-selected={isOpen}
              tabIndex={isOpen ? 0 : -1}
              onClick={() => onOpen(index)}
            >
              {step && <small>{journey.indexOf(step) + 1}</small>} {step?.title ?? titleOf(tab)}
              {running.has(tab.id) && <i className="lab-running" title="goes on" />}
            </button>
          );
        })}
      </div>
      {/* Both buttons are always rendered, so that the tabs keep their positions. */}
      <button
        type="button"
        className="lab-add"
        onClick={close}
        disabled={!isClosable(open)}
        aria-label={`Close ${open && titleOf(open)}`}
      >
        ×
      </button>
      <button type="button" className="lab-add" onClick={onAdd} disabled={!onAdd} aria-label="New tab" title="New tab">
        +
      </button>
    </div>
  );
}

/**
 * Scrolls an element into view, but only if the lab itself scrolls, as on a phone. Otherwise the call would scroll
 * nothing, but it would make Chromium's Tab key continue from the element instead of from the focus.
 */
export function bringIntoSight(element: Element | null | undefined): void {
  const main = element?.closest('.lab-main');
  if (main && main.scrollHeight > main.clientHeight) element?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/** Returns the title of a tab. GraphiQL titles a tab without an operation "<untitled>". */
const titleOf = ({ title }: Tab) => title.replace('<untitled>', 'New tab');
const nameOf = ({ operationName, title }: Tab) => operationName ?? title;

/** Returns the step that a tab belongs to. Further tabs with the same operation belong to no step. */
export const stepIn = (tab: Tab, tabs: readonly Tab[]) =>
  tab === tabs.find((other) => nameOf(other) === nameOf(tab)) ? stepOf(nameOf(tab)) : undefined;
