import type { Assets } from './assets.ts';
import { docsPath } from './docs.ts';
import { bundledPage, type Page } from './layout.ts';
import type { Shown } from './shown.ts';

/** The files of the lab: its page, and its workers. */
export const labFiles = ['lab', 'editor.worker', 'json.worker', 'graphql.worker'] as const;

export function labPage(assets: Assets, { sandbox, documents }: Shown): Page {
  const worker = (name: string) => assets.of(`${name}.worker`)?.scripts[0];
  const settings = {
    ...(sandbox && {
      sandbox: {
        ...sandbox.credentials,
        sourceAccountId: sandbox.sourceAccountId,
        destinationAccountId: sandbox.destinationAccountId,
      },
    }),
    ...(documents && { docs: docsPath }),
    workers: { editor: worker('editor'), json: worker('json'), graphql: worker('graphql') },
  };
  return bundledPage(assets, { name: 'lab', title: 'Lab', settings });
}
