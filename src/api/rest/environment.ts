import type { Cursors } from '../../core/cursors.ts';
import type { Viewer } from '../../domain/access/viewer.ts';
import type { Replicas } from '../../infra/database/replicas/replicas.ts';
import type { RestBindings } from './node-adapter.ts';

export interface RestEnvironment {
  Bindings: RestBindings;
  Variables: {
    /** The authenticated caller, set before any endpoint runs. */
    viewer: Viewer;
    cursors: Cursors;
    replicas: Replicas | undefined;
    /** Whether the endpoint only reads, so that its response contains no token for later reads. */
    onlyReads?: true;
    /** Whether the command of this request has taken effect: a later error is not an error of the command. */
    tookEffect?: true;
  };
}
