import { grouped, plural } from '../../../core/plurals.ts';

/** Row with the values that search and filter use. */
interface Row {
  element: HTMLTableRowElement;
  text: string;
  status: string;
}

/** Makes the table of streams searchable, filterable and sortable. */
export function enableTable(table: HTMLTableElement, tools: HTMLFormElement): void {
  const body = table.tBodies[0];
  const head = table.tHead?.rows[0];
  if (body === undefined || head === undefined) return;
  const rows = [...body.rows].map((element): Row => {
    const name = element.querySelector('summary')?.textContent ?? '';
    const details = element.querySelector('pre')?.textContent ?? '';
    return { element, text: folded(`${name}\n${details}`), status: element.dataset['status'] ?? '' };
  });
  enableSearch(rows, tools);
  [...head.cells].forEach((cell, column) => {
    enableSort(cell, column, head, body, rows);
  });
}

function enableSearch(rows: readonly Row[], tools: HTMLFormElement): void {
  const query = tools.querySelector('input');
  const shown = tools.querySelector('select');
  const count = tools.querySelector('output');
  if (query === null || shown === null || count === null) return;
  const narrow = () => {
    const words = folded(query.value).split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { element, text, status } of rows) {
      const isWanted = matchesStatus(status, shown.value) && words.every((word) => text.includes(word));
      element.hidden = !isWanted;
      if (isWanted) found++;
    }
    count.textContent = `${grouped(found)} of ${plural(rows.length, 'stream')}`;
  };
  tools.addEventListener('submit', (event) => event.preventDefault());
  query.addEventListener('input', narrow);
  shown.addEventListener('change', narrow);
  narrow();
  tools.hidden = false;
}

function matchesStatus(status: string, wanted: string): boolean {
  if (wanted === '') return true;
  return wanted === 'amiss' ? status !== 'verified' : status === wanted;
}

/** Folds case and diacritics, because people who search for a name often leave them out. */
function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

function enableSort(
  cell: HTMLTableCellElement,
  column: number,
  head: HTMLTableRowElement,
  body: HTMLTableSectionElement,
  rows: readonly Row[],
): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.append(...cell.childNodes);
  cell.append(button);
  button.addEventListener('click', () => {
    const isAscending = cell.ariaSort !== 'ascending';
    for (const other of head.cells) other.ariaSort = 'none';
    cell.ariaSort = isAscending ? 'ascending' : 'descending';
    const sorted = rows.map(({ element }) => ({ element, key: keyOf(element.cells[column]) }));
    sorted.sort((one, other) => compare(one.key, other.key) * (isAscending ? 1 : -1));
    body.append(...sorted.map(({ element }) => element));
  });
}

function keyOf(cell: HTMLTableCellElement | undefined): string | number {
  const rank = cell?.dataset['sort'];
  return rank === undefined ? (cell?.querySelector('summary')?.textContent ?? '') : Number(rank);
}

const collator = new Intl.Collator('en', { numeric: true });

function compare(one: string | number, other: string | number): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return collator.compare(String(one), String(other));
}
