/** A row of a followed list. `version` increases with each change. */
export interface Row {
  readonly id: string;
  readonly version: number;
}

/** A message of `transactionChanges` or a similar subscription. */
export interface ListMessage<R extends Row> {
  readonly snapshot?: {
    readonly edges: readonly { readonly node: R }[];
    readonly pageInfo?: { readonly hasNextPage: boolean };
  } | null;
  readonly changes: readonly { readonly op: 'ENTER' | 'UPDATE' | 'LEAVE'; readonly node: R }[];
}

/** A list in its current state, newest first, with at most as many rows as requested. */
export interface LiveList<R extends Row> {
  readonly rows: readonly R[];
  /** Whether more rows follow these. */
  readonly hasMore: boolean;
  /** The id of the last row before the rows that are not shown, even if that row has left the list. */
  readonly end?: string | undefined;
  /** The highest version seen so far for each row, including rows that have left the list. */
  readonly versions: ReadonlyMap<string, number>;
}

/** Applies a message to a list. Ignores a change that is not newer than the known version of its row. */
export function applyChanges<R extends Row>(
  list: LiveList<R> | undefined,
  { snapshot, changes }: ListMessage<R>,
  limit: number,
): LiveList<R> {
  const from = snapshot ? snapshot.edges.map(({ node }) => node) : (list?.rows ?? []);
  let rows = [...from];
  let hasMore = snapshot ? (snapshot.pageInfo?.hasNextPage ?? false) : (list?.hasMore ?? false);
  let end = snapshot ? (hasMore ? rows.at(-1)?.id : undefined) : list?.end;
  const versions = new Map(snapshot ? rows.map((row) => [row.id, row.version]) : list?.versions);
  for (const { op, node } of changes) {
    if (node.version <= (versions.get(node.id) ?? 0)) continue;
    versions.set(node.id, node.version);
    const at = rows.findIndex(({ id }) => id === node.id);
    if (op === 'LEAVE') rows = rows.filter(({ id }) => id !== node.id);
    else if (at >= 0) rows[at] = node;
    // A row may return when its status changes, so it need not be the newest. Ids and lists are both ordered by time.
    // Its place may be among the rows after `end`, which are not shown.
    else if (op === 'ENTER' && (end === undefined || node.id >= end)) rows = insert(rows, node);
  }
  if (rows.length > limit) {
    rows = rows.slice(0, limit);
    hasMore = true;
    end = rows.at(-1)?.id;
  }
  return { rows, hasMore, end, versions };
}

function insert<R extends Row>(rows: readonly R[], row: R): R[] {
  const at = rows.findIndex(({ id }) => id < row.id);
  return at < 0 ? [...rows, row] : [...rows.slice(0, at), row, ...rows.slice(at)];
}
