import type { Viewer } from '../access/viewer.ts';
import type { RestBindings } from './node-adapter.ts';

/** What handlers find in their context. */
export interface RestEnvironment {
  Bindings: RestBindings;
  Variables: {
    /** Who asks; set before any endpoint runs. */
    viewer: Viewer;
    /** Whether the command of this request has taken effect, so that an error from now on is not one of the command. */
    tookEffect?: true;
  };
}
