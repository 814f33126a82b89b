import { useEffect, useRef } from 'react';
import { journey, stepOf } from './further-steps.ts';

interface Tab {
  readonly id: string;
  readonly title: string;
  readonly operationName: string | null;
}

interface TabBarProps {
  readonly tabs: readonly Tab[];
  readonly openIndex: number;
  /** The tabs with an operation in progress. */
  readonly running: ReadonlySet<string>;
  readonly onOpen: (index: number) => void;
  readonly onAdd: () => void;
  readonly onClose: (index: number) => void;
}

/** Renders the tabs. They keep their positions, so that a click hits the intended tab. */
export function TabBar({ tabs, openIndex, running, onOpen, onAdd, onClose }: TabBarProps) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: brings the open tab into sight whenever another is opened
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [openIndex]);
  return (
    <div className="lab-tabs" role="tablist" aria-label="Operations" ref={list}>
      {tabs.map((tab, index) => {
        const step = stepOf(tab.operationName ?? tab.title);
        return (
          <span key={tab.id} className="lab-tab" data-open={index === openIndex}>
            <button type="button" role="tab" aria-selected={index === openIndex} onClick={() => onOpen(index)}>
              {step && <small>{journey.indexOf(step) + 1}</small>} {step?.title ?? tab.title}
              {running.has(tab.id) && <i className="lab-running" title="goes on" />}
            </button>
            {!step && tabs.length > 1 && (
              <button type="button" aria-label={`Close ${tab.title}`} onClick={() => onClose(index)}>
                ×
              </button>
            )}
          </span>
        );
      })}
      <button type="button" className="lab-add" onClick={onAdd} aria-label="New tab" title="New tab">
        +
      </button>
    </div>
  );
}
