import { enableTable } from './table.ts';

const table = document.querySelector<HTMLTableElement>('#table');
const tools = document.querySelector<HTMLFormElement>('form.tools');
if (table !== null && tools !== null) enableTable(table, tools);
