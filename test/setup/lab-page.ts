import type { Page } from 'playwright-core';
import { expect, vi } from 'vitest';

export function labOf(page: Page) {
  // Reads only the visible lines, because the editor also has hidden copies of its text.
  const result = page.locator('.result-window .view-lines');
  const events = page.locator('.lab-events li');
  const tab = (title: string) => page.getByRole('tab', { name: new RegExp(`^\\d+ ${title}$`) });
  const copy = page.getByRole('region', { name: 'The operation' });
  const isOpen = async (title: string) => {
    await expect.poll(() => tab(title).getAttribute('aria-selected'), { interval: 20 }).toBe('true');
  };
  return {
    result,
    events,
    event: (text: string) => events.filter({ hasText: text }),
    /** Locates the event that reports the given status for the payment returned in `answer`. */
    eventOf(answer: string, status: string) {
      const [id] = /Transaction:[\s\S]*?(?=")/.exec(answer) ?? [];
      return page.locator(`.lab-events li[data-transaction="${id?.replaceAll(/\s/g, '')}"]`, {
        hasText: `Outgoing payment ${status}`,
      });
    },
    isOpen,
    state: (state: string) => page.locator(`.lab-state[data-state=${state}]`).waitFor(),
    async open(title: string): Promise<void> {
      // Clicks a position rather than the element, because the tabs are replaced while the editor loads.
      const box = await vi.waitUntil(() => tab(title).boundingBox(), { timeout: 30_000 });
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      await isOpen(title);
    },
    async tap(title: string): Promise<void> {
      // A tab may move while the editor loads, so a slow tap could miss it.
      await page.locator('.graphiql-execute-button').waitFor();
      await tab(title).tap();
      await isOpen(title);
    },
    /** The region that shows the text to copy. */
    copy,
    /** Presses a button that copies the operation, and returns the text to copy. */
    async copied(name: string): Promise<string> {
      await page.getByRole('button', { name }).click();
      return (await copy.locator('pre').textContent()) ?? '';
    },
    /** Executes the operation and waits until the response contains the text. Returns the response's visible part. */
    async run(text: string): Promise<string> {
      await page.locator('.graphiql-execute-button').click();
      await result.getByText(text).first().waitFor();
      return ((await result.textContent()) ?? '').replaceAll('\u00a0', ' ');
    },
  };
}
