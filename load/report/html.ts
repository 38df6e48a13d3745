// The few things that every part of the page needs: escaping, families of strategies, tables.
import { isRed } from '../verdict.js';
import type { Verdict } from '../verdict.js';

export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const families: Record<string, string> = {
  none: 'none',
  unsorted: 'none',
  atomic: 'database',
  optimistic: 'database',
  pessimistic: 'database',
  advisory: 'database',
  sorted: 'database',
  batched: 'batched',
};

/** Colour tells the family only; the name always stands beside it. */
export const familyOf = (strategy: string): string => families[strategy] ?? 'redis';

export const absent = '<span class="absent">not measured</span>';

export interface Column<T> {
  head: string;
  cell: (row: T) => string;
  /** Numbers stand right. */
  number?: boolean;
}

/** A table that scrolls in its own box where the window is narrow. */
export function table<T>(caption: string, all: readonly Column<T>[], rows: readonly T[]): string {
  // A column that says nothing of anybody is left out.
  const columns = all.filter(({ cell }) => rows.some((row) => cell(row) !== '' && cell(row) !== absent));
  const attribute = ({ number }: Column<T>) => (number ? ' class="n"' : '');
  const head = columns.map((column) => `<th scope="col"${attribute(column)}>${escape(column.head)}</th>`).join('');
  const body = rows
    .map((row) => {
      const [first, ...rest] = columns;
      const cells = rest.map((column) => `<td${attribute(column)}>${column.cell(row)}</td>`).join('');
      return `<tr><th scope="row">${first!.cell(row)}</th>${cells}</tr>`;
    })
    .join('\n');
  return `<p class="caption">${escape(caption)}</p><div class="scroll" role="region" tabindex="0" aria-label="${escape(caption)}"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}

export const name = (strategy: string): string => `<span class="name ${familyOf(strategy)}">${escape(strategy)}</span>`;

export const figureBox = (title: string, chart: string, note: string, behind: string): string => `
<figure>
<figcaption><h3>${escape(title)}</h3><p>${escape(note)}</p></figcaption>
${chart}
<details><summary>The figures behind it</summary>${behind}</details>
</figure>`;

export const section = (id: string, title: string, lead: string, content: string): string =>
  `<section id="${id}"><h2>${escape(title)}</h2><p>${escape(lead)}</p>${content}</section>`;

export const chip = ({ verdict }: { verdict: Verdict }): string =>
  `<span class="chip ${isRed(verdict) ? 'red' : verdict}">${isRed(verdict) || verdict === 'oversold' ? verdict.toUpperCase() : 'exact'}</span>`;
