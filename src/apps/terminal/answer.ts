export interface Answer {
  /** The output with `--json`, for machines. Absent if the command has already printed it. */
  readonly data?: unknown;
  /** Human-readable output, line by line. */
  readonly lines?: readonly string[];
  /** 0 by default; 1 if something is wrong or was refused. */
  readonly exitCode?: number;
}

/** Ends a command that cannot continue, with a message for its user. */
export class Failure extends Error {
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.name = 'Failure';
    this.code = code;
  }
}

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Returns rows as a human-readable table, or `none` if there are no rows. */
export function listed(rows: Rows, none: string): Answer {
  return { data: rows, lines: tableOf(rows, none) };
}

/** Formats rows as lines, with columns as wide as their contents and the field names as the header. */
export function tableOf(rows: Rows, none: string): string[] {
  const [first] = rows;
  if (!first) return [none];
  const names = Object.keys(first);
  const cells = [names, ...rows.map((row) => names.map((name) => cellOf(row[name])))];
  const widths = names.map((_name, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(cellOf).join(',') || '-';
  return String(value);
}

/** Formats a command's answer as JSON. Amounts are strings, as in the API. */
export function jsonOf(data: unknown, indent = 2): string {
  return JSON.stringify(data, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value), indent);
}

/** Formats an instant as the local time of day, with milliseconds. */
export function timeOfDay(instant: string): string {
  const date = new Date(instant);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
