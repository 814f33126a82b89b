/** What a command has to say. */
export interface Answer {
  /** For machines: what `--json` prints. */
  readonly data: unknown;
  /** For people, line by line. */
  readonly lines: readonly string[];
  /** 0, if left out; 1 where something is wrong or was refused. */
  readonly exitCode?: number;
}

/** Writes rows as lines, in columns that are as wide as what is in them. The fields are the columns, and their names the head. */
export function tableOf(rows: readonly Readonly<Record<string, unknown>>[], none: string): string[] {
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

/** Writes what a command has to say as JSON. Amounts are strings, as everywhere. */
export function jsonOf(data: unknown, indent = 2): string {
  return JSON.stringify(data, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value), indent);
}
